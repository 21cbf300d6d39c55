//===- NeuralOps.td - Composites worth a kernel of their own --------------===//

#ifndef TITAN_NEURAL_OPS_TD
#define TITAN_NEURAL_OPS_TD

include "dialects/titan/IR/TitanOpBase.td"

def Titan_RotaryOp : Titan_Op<"rotary", [Pure]> {
  let summary = "rotary position embedding";
  let description = [{
    Rotates pairs of elements of dimension `dim` (size 2n) by position times theta^(-i/n), i = 0..n-1
    (Su et al., arXiv 2104.09864, section 3.4.2). `interleaved` pairs elements (2i, 2i+1), otherwise
    (i, i+n). `inverse` rotates back, which is also the transpose and so the gradient. The position is
    the global index along `along`.

    Constraints:
    - (C1) operand and result are equal up to sharding; `along` and `dim` are dimensions of it.
    - (C2) the size of `dim` is even.

    Example: `%r = titan.rotary %q along "seq" dim "head" {theta = 5.0e+05, interleaved} : T -> T`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$along, StrAttr:$dim, F64Attr:$theta,
                       UnitAttr:$interleaved, UnitAttr:$inverse);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `along` $along `dim` $dim attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Titan_AttentionOp : Titan_Op<"attention", [Pure]> {
  let summary = "scaled dot-product attention";
  let description = [{
    scores = scale * (q @ k) over dimension `head`; softmax over the positions of k and v (their
    dimension `along`); result = scores @ v. Dimensions that q has and k lacks (grouped queries) reuse
    k and v. `lse` is the natural logarithm of the sum of exponentials (Dao et al., arXiv 2205.14135),
    kept for the gradient and for merging partial results, in f32 at least. Scores, probabilities and
    sums are computed in f32 at least, whatever q, k and v are. `causal` lets position i see j <= i.
    Decomposition: rename `along` of k and v, contract, select, reduce, exp, contract.

    Constraints:
    - (C1) q, k and v have `along` and `head`; k and v have equal dimensions.
    - (C2) the dimensions of k are a subset of those of q.
    - (C3) the result's dimensions are those of q; those of `lse` are q's without `head`.

    Example: `%y, %lse = titan.attention %q, %k, %v along "seq" head "head" {scale = 0.25, causal} : ...`
  }];
  let arguments = (ins Titan_Tensor:$query, Titan_Tensor:$key, Titan_Tensor:$value, StrAttr:$along,
                       StrAttr:$head, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Titan_Tensor:$result, Titan_Tensor:$lse);
  let assemblyFormat = "$query `,` $key `,` $value `along` $along `head` $head attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Titan_AttentionGradOp : Titan_Op<"attention_grad", [Pure]> {
  let summary = "cotangents of attention's q, k and v";
  let description = [{
    Recomputes the probabilities from q, k and lse (Dao et al., arXiv 2205.14135, appendix B.2).

    Constraints:
    - (C1) the results have the dimensions of q, k and v.
    - (C2) `cotangent` and `result` have q's dimensions.

    Example: `%dq, %dk, %dv = titan.attention_grad %dy, %q, %k, %v, %y, %lse along "seq" head "head" {scale = 0.25, causal} : ...`
  }];
  let arguments = (ins Titan_Tensor:$cotangent, Titan_Tensor:$query, Titan_Tensor:$key,
                       Titan_Tensor:$value, Titan_Tensor:$result, Titan_Tensor:$lse, StrAttr:$along,
                       StrAttr:$head, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Titan_Tensor:$dQuery, Titan_Tensor:$dKey, Titan_Tensor:$dValue);
  let assemblyFormat = "operands `along` $along `head` $head attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // TITAN_NEURAL_OPS_TD
