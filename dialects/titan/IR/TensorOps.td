//===- TensorOps.td - Contraction, reduction, indexing, dimension surgery -===//

#ifndef TITAN_TENSOR_OPS_TD
#define TITAN_TENSOR_OPS_TD

include "dialects/dist/IR/DistAttrs.td"
include "dialects/titan/IR/TitanOpBase.td"

def Titan_ShardingConstraintOp : Titan_Op<"sharding_constraint", [Pure]> {
  let summary = "a value that the user declared; the mapping binds it";
  let description = [{
    The identity. It marks the values to which the parallel map is applied (declared `let`s and what
    `repeat` carries); everything between sharding constraints is inferred by propagation. Its cotangent is an
    anchor too, so a gradient lies as its value does. Gone after the shard phase.

    `titan.name` is what overrides of the map call the value by; the cotangent has the same name.

    Constraints:
    - (C1) operand and result are equal up to sharding.

    Example: `%h = titan.sharding_constraint %0 {titan.name = "layers.h"} : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Titan_StopGradientOp : Titan_Op<"stop_gradient", [Pure]> {
  let summary = "a value that no gradient flows through";
  let description = [{
    The identity, whose operand gets no cotangent. Gone after the gradient phase.

    Constraints:
    - (C1) operand and result are equal up to sharding.

    Example: `%top = titan.stop_gradient %0 : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Titan_ContractOp : Titan_Op<"contract", [Pure]> {
  let summary = "Einstein summation of two tensors by dimension names";
  let description = [{
    Multiplies and sums over exactly the dimensions that both operands have and the result lacks.
    Dimensions that both operands and the result have are batched. Sums are made in f32 at least and
    rounded once, to the result's type.

    With `into`, the sums join that tensor, whose place the result may take.

    Constraints:
    - (C1) every dimension of the result is a dimension of an operand, of the same size.
    - (C2) a dimension that the result lacks is a dimension of both operands.
    - (C3) the operands have one element type; the result has it too, or a wider floating-point type.
    - (C4) `into` has the dimensions and the element type of the result.
    - (C5) the operands are numbers, not booleans.

    Example: `%q = titan.contract %h, %wq : (!titan.tensor<f32[seq = 8, embed = 4]>,
    !titan.tensor<f32[embed = 4, heads = 2, head = 2]>) -> !titan.tensor<f32[seq = 8, heads = 2, head = 2]>`
  }];
  let arguments = (ins Titan_Tensor:$lhs, Titan_Tensor:$rhs, Optional<Titan_Tensor>:$into);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs (`into` $into^)? attr-dict `:` functional-type(operands, results)";
  let builders = [
    OpBuilder<(ins "mlir::Type":$result, "mlir::Value":$lhs, "mlir::Value":$rhs),
              [{ build($_builder, $_state, result, lhs, rhs, mlir::Value()); }]>
  ];
  let hasVerifier = 1;
}

def Titan_ReduceOp : Titan_Op<"reduce", [Pure]> {
  let summary = "sum, maximum or minimum over dimensions";
  let description = [{
    Reduces over the dimensions of the operand that the result lacks. Sums are made in f32 at least
    and rounded once, to the result's type.

    Constraints:
    - (C1) the result's dimensions are a subset of the operand's.
    - (C2) the element type is the same, or, of a sum, the result's is a wider floating-point type.
    - (C3) a sum is of numbers, not of booleans.

    Example: `%s = titan.reduce sum %x : !titan.tensor<f32[seq = 8, embed = 4]> -> !titan.tensor<f32[seq = 8]>`
  }];
  let arguments = (ins Dist_ReductionKind:$kind, Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Titan_CheckIndexOp : Titan_Op<"check_index", [Pure]> {
  let summary = "indices that must be within a dimension";
  let description = [{
    The identity, but the program fails where an index is negative or not below `size`, the size of
    the dimension `along` that `gather` or `scatter` will index: without padding, and whole. It stands
    where the indices are computed, so that nothing else tells that they fit.

    Constraints:
    - (C1) operand and result are equal up to sharding, of the element type i64.

    Example: `%i = titan.check_index %0 along "vocab" size 27 : !titan.tensor<i64[seq = 8]> -> !titan.tensor<i64[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$along, I64Attr:$size);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `along` $along `size` $size attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Titan_GatherOp : Titan_Op<"gather", [Pure]> {
  let summary = "selection along a dimension by an integer tensor";
  let description = [{
    `table[vocab: tokens]`. The result has the operand's dimensions without the indexed one, joined
    by name with those of the indices: a dimension that both have is walked together.
    On a rank that holds a part of the indexed dimension, indices outside it yield 0, so the result
    is a partial sum over the axes that split it.

    Constraints:
    - (C1) the operand has the dimension `along`, the indices and the result have not.
    - (C2) the result's dimensions are the union of the others.
    - (C3) the indices are i64; 0 <= index < size of `along`, which `titan.check_index` checks where
      it is not known (out of range yields 0).

    Example: `%x = titan.gather %table along "vocab" at %tokens : (!titan.tensor<f32[vocab = 16, embed = 4]>,
    !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8, embed = 4]>`
  }];
  let arguments = (ins Titan_Tensor:$input, Titan_Tensor:$indices, StrAttr:$along);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `along` $along `at` $indices attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Titan_ScatterOp : Titan_Op<"scatter", [Pure]> {
  let summary = "sums values into the places that an integer tensor names (transpose of take)";
  let description = [{
    result[..., indices[i], ...] += updates[i, ...]; everything else is 0. Dimensions of the updates
    that the result lacks are summed over. Sums are made in f32 at least and rounded once.

    With `into`, the result begins as that tensor instead of zeros, and may take its place: so a
    table's gradient from its rows joins the one it has from elsewhere without a second table.

    Constraints:
    - (C1) the result has the dimension `along`, updates and indices have not.
    - (C2) the other dimensions of the result are dimensions of the updates or indices.
    - (C3) the indices are i64.
    - (C4) the element type is the same, or the result's is a wider floating-point type.
    - (C5) `into` has the dimensions and the element type of the result.

    Example: `%dtable = titan.scatter %dx along "vocab" at %tokens : (!titan.tensor<f32[seq = 8, embed = 4]>,
    !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[vocab = 16, embed = 4]>`
  }];
  let arguments = (ins Titan_Tensor:$updates, Titan_Tensor:$indices, StrAttr:$along,
                       Optional<Titan_Tensor>:$into);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$updates `along` $along `at` $indices (`into` $into^)? attr-dict `:` functional-type(operands, results)";
  let builders = [
    OpBuilder<(ins "mlir::Type":$result, "mlir::Value":$updates, "mlir::Value":$indices,
                   "mlir::StringAttr":$along),
              [{ build($_builder, $_state, result, updates, indices, along, mlir::Value()); }]>
  ];
  let extraClassDeclaration = [{
    /// Every element of the result takes one update at most, and begins as 0: an elementwise choice.
    bool isOneHot();
    /// No element takes more updates than are summed as exactly one after the other (base/kernels/SumBlocks.h).
    bool hasFewTerms();
  }];
  let hasVerifier = 1;
}

def Titan_RenameOp : Titan_Op<"rename", [Pure]> {
  let summary = "the same values under other dimension names";
  let description = [{
    Position by position, names may differ; memory is untouched.

    Constraints:
    - (C1) operand and result have the same rank, sizes and element type.

    Example: `%k1 = titan.rename %k : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[keys = 8 of seq]>`
  }];
  let arguments = (ins Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Titan_SplitOp : Titan_Op<"split", [Pure]> {
  let summary = "one dimension becomes several, outer to inner";
  let description = [{
    Constraints:
    - (C1) the result is the operand with dimension `dim` replaced in place by new dimensions, whose
      sizes multiply to its size.

    Example: `%y = titan.split %x dim "head" : !titan.tensor<f32[seq = 8, head = 4]>
    -> !titan.tensor<f32[seq = 8, pair = 2, two = 2]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$dim);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Titan_MergeOp : Titan_Op<"merge", [Pure]> {
  let summary = "adjacent dimensions become one (inverse of split)";
  let description = [{
    Constraints:
    - (C1) the operand is the result with dimension `dim` replaced in place by several dimensions,
      whose sizes multiply to its size.

    Example: `%y = titan.merge %x dim "embed" : !titan.tensor<f32[seq = 8, heads = 2, head = 4]>
    -> !titan.tensor<f32[seq = 8, embed = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$dim);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Titan_SliceOp : Titan_Op<"slice", [Pure]> {
  let summary = "a range of a dimension";
  let description = [{
    Takes indices offset <= i < offset + size of dimension `dim`; the result's dimension at that
    position has the range's size and may have a new name.

    Constraints:
    - (C1) the range lies within the dimension.
    - (C2) the other dimensions are unchanged.

    Example: `%y = titan.slice %x dim "seq" from 2 : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[prefix = 4 of seq]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$dim, I64Attr:$offset);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim `from` $offset attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Titan_PadOp : Titan_Op<"pad", [Pure]> {
  let summary = "a dimension grown with zeros on both sides (transpose of slice)";
  let description = [{
    The operand lies at indices offset <= i < offset + its size of dimension `dim` of the result;
    the rest is 0. A concatenation is a sum of pads.

    Constraints:
    - (C1) the operand fits.
    - (C2) the other dimensions are unchanged.

    Example: `%y = titan.pad %x dim "seq" from 2 : !titan.tensor<f32[prefix = 4 of seq]> -> !titan.tensor<f32[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$dim, I64Attr:$offset);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim `from` $offset attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TITAN_TENSOR_OPS_TD
