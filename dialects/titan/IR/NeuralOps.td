// Composite operations with their own kernels.

#ifndef TITAN_NEURAL_OPS_TD
#define TITAN_NEURAL_OPS_TD

include "dialects/titan/IR/TitanOpBase.td"

def Titan_RotaryOp : Titan_Op<"rotary", [Pure, Titan_InPlace]> {
  let summary = "rotary position embedding";
  let description = [{
    Rotates pairs of elements of dimension `dim` (size 2n) by position times theta^(-i/n), i = 0..n-1
    (Su et al., arXiv 2104.09864, section 3.4.2), or by position times `frequencies[i]`: models with an
    extended context lower some frequencies. `interleaved` pairs elements (2i, 2i+1), otherwise (i, i+n).
    `inverse` rotates back; it is the transpose and therefore the gradient. The position is the global
    index along `along` plus `start`, the first position of a chunk of a longer dimension, or the first
    positions of several chunks.

    Decomposition (`--titan-decompose`): split `dim` into pairs, multiply by cosines and sines, merge.

    Constraints:
    - (C1) operand and result are equal up to sharding and have the dimensions `along` and `dim`.
    - (C2) the size of `dim` is even.
    - (C3) it has either `theta`, or `frequencies` with n numbers.
    - (C4) `start` is an i64 of rank 0, or with dimensions of the operand other than `along` and `dim`.

    Example: `%r = titan.rotary %q along "seq" dim "head" {theta = 5.0e+05, interleaved} : T -> T`
  }];
  let arguments = (ins Titan_Tensor:$input, Optional<Titan_Tensor>:$start, StrAttr:$along, StrAttr:$dim,
                       OptionalAttr<F64Attr>:$theta, OptionalAttr<DenseF64ArrayAttr>:$frequencies,
                       UnitAttr:$interleaved, UnitAttr:$inverse);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = [{
    $input `along` $along `dim` $dim (`from` $start^ `:` type($start))? attr-dict `:`
    type($input) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// The angle per position of each pair in radians.
    ::llvm::SmallVector<double> getRadians();
  }];
  let hasVerifier = 1;
}

def Titan_AttentionOp : Titan_Op<"attention", [Pure, AttrSizedOperandSegments]> {
  let summary = "scaled dot-product attention";
  let description = [{
    scores = scale * (q @ k) over dimension `head`; softmax over the positions of k and v (their
    dimension `along`); result = scores @ v. k and v are repeated along dimensions of q that k lacks
    (grouped queries). v may have another dimension in place of `head`; then the result has it too.
    `lse` is the natural logarithm of the sum of exponentials (Dao et al., arXiv 2205.14135), in f32 at
    least. The gradient reads it, and partial results are merged by it. Scores, probabilities and sums are
    computed in f32 at least, for all types of q, k and v.

    `soft_cap` c bounds the scores: c tanh(score / c). The mask for positions i of q and j of k is the
    intersection of `causal`, j <= i; `window` w, |i - j| < w; and `documents`, equal numbers at i and j.
    Every query attends at least to its own position, if k has it.

    `from %p`: query i has the position p + i; keys count from 0. The queries are a chunk of a longer
    dimension, and k and v may be longer than q. `p` may have dimensions that q and k share, such as the texts
    of a batch: then each text has its start.

    Decomposition (`--titan-decompose`): rename `along` of k and v, contract, select, reduce, exp, contract.
    The positions of q may be sharded. Those of k and v are whole, except in a step of a ring.

    `ring %s over ["cp"]`: one step of ring attention (Liu, Zaharia and Abbeel, 2023, section 3;
    `--dist-lower-ring-attention`). k and v hold the shard of the rank that is %s positions before this
    rank along the axes, cyclically. The result and `lse` are those over the visible keys of that shard
    alone. A query that sees none of them has the result 0 and the `lse` minus infinity.

    Constraints:
    - (C1) q, k and v have the dimension `along`, q and k have `head`.
    - (C2) the dimensions of k are among those of q; with `from`, the sizes of `along` may differ.
    - (C3) v has the dimensions of k without `head`, and one more: `head`, or one that q lacks.
    - (C4) the dimensions of the result are those of q with that dimension in place of `head`; those of
      `lse` are q's without `head`.
    - (C5) `documents` is i64; its dimensions are `along` and dimensions of k other than `head`.
    - (C6) `window` is at least 1.
    - (C7) `soft_cap` is positive.
    - (C8) q, k, v and the result have one floating-point element type; `lse` has that type or f32 if
      that is wider.
    - (C9) the step of a ring is an i64 of rank 0. Its axes are those that shard the positions of k and v,
      and they shard the positions of q.
    - (C10) the first position is an i64 of rank 0, or with dimensions of k other than `along` and `head`.

    Example: `%y, %lse = titan.attention %q, %k, %v documents %ids along "seq" head "head"
    {scale = 0.25, causal, window = 4096 : i64, soft_cap = 5.0e+01} : ...`
  }];
  let arguments = (ins Titan_Tensor:$query, Titan_Tensor:$key, Titan_Tensor:$value,
                       Optional<Titan_Tensor>:$documents, Optional<Titan_Tensor>:$ring_step,
                       Optional<Titan_Tensor>:$start, StrAttr:$along, StrAttr:$head, F64Attr:$scale,
                       UnitAttr:$causal, OptionalAttr<I64Attr>:$window, OptionalAttr<F64Attr>:$soft_cap,
                       OptionalAttr<StrArrayAttr>:$ring_axes);
  let results = (outs Titan_Tensor:$result, Titan_Tensor:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`documents` $documents^)? (`ring` $ring_step^ `over` $ring_axes)? (`from` $start^)?
    `along` $along `head` $head attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The dimension of v that replaces `head`.
    DimAttr getValueHead() { return findValueHead(getKey().getType(), getValue().getType(), getHeadAttr()); }
  }];
  let hasVerifier = 1;
}

def Titan_AttentionGradOp : Titan_Op<"attention_grad", [Pure, AttrSizedOperandSegments]> {
  let summary = "cotangents of attention's q, k and v";
  let description = [{
    Recomputes the probabilities from q, k and lse (Dao et al., arXiv 2205.14135, appendix B.2). Adds the
    product of `lse_cotangent`, if given, and the probability to the cotangent of every visible score.

    Constraints:
    - (C1) q, k, v, documents, the step of a ring and attributes satisfy the constraints of
      `titan.attention`. In a ring, `result` and `lse` are those over all keys, and the cotangents are
      those of the pairs with the keys of the step.
    - (C2) the results have the dimensions of q, k and v.
    - (C3) `cotangent` and `result` have the dimensions of attention's result, `lse` and `lse_cotangent`
      those of its `lse`.

    Example: `%dq, %dk, %dv = titan.attention_grad %dy, %q, %k, %v, %y, %lse lse_cotangent %dlse
    documents %ids along "seq" head "head" {scale = 0.25, causal} : ...`
  }];
  let arguments = (ins Titan_Tensor:$cotangent, Titan_Tensor:$query, Titan_Tensor:$key,
                       Titan_Tensor:$value, Titan_Tensor:$result, Titan_Tensor:$lse,
                       Optional<Titan_Tensor>:$lse_cotangent, Optional<Titan_Tensor>:$documents,
                       Optional<Titan_Tensor>:$ring_step, StrAttr:$along, StrAttr:$head,
                       F64Attr:$scale, UnitAttr:$causal, OptionalAttr<I64Attr>:$window,
                       OptionalAttr<F64Attr>:$soft_cap, OptionalAttr<StrArrayAttr>:$ring_axes);
  let results = (outs Titan_Tensor:$dQuery, Titan_Tensor:$dKey, Titan_Tensor:$dValue);
  let assemblyFormat = [{
    $cotangent `,` $query `,` $key `,` $value `,` $result `,` $lse (`lse_cotangent` $lse_cotangent^)?
    (`documents` $documents^)? (`ring` $ring_step^ `over` $ring_axes)? `along` $along `head` $head
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The dimension of v that replaces `head`.
    DimAttr getValueHead() { return findValueHead(getKey().getType(), getValue().getType(), getHeadAttr()); }
  }];
  let hasVerifier = 1;
}

#endif // TITAN_NEURAL_OPS_TD
