// Contraction, reduction, indexing, reshaping.

#ifndef TITAN_TENSOR_OPS_TD
#define TITAN_TENSOR_OPS_TD

include "dialects/dist/IR/DistAttrs.td"
include "dialects/titan/IR/TitanOpBase.td"

def Titan_ShardingConstraintOp : Titan_Op<"sharding_constraint", [Pure, Titan_View, Titan_InferType]> {
  let summary = "fixes the sharding of a value to the axis rules";
  let description = [{
    The identity. The axis rules determine the sharding of its value: a declared `let` or an iteration
    argument. Propagation infers all other shardings. The cotangent has a sharding constraint too, so a
    gradient has the sharding of its value. The shard phase removes sharding constraints.

    `titan.name` is the name by which overrides refer to the value; the cotangent has the same name.

    Constraints:
    - (C1) operand and result are equal up to sharding.

    Example: `%h = titan.sharding_constraint %0 {titan.name = "layers.h"} : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let extraClassDeclaration = Titan_InferTypeDeclarations;
  let definitions = Titan_InferTypeAs<"operands[0].getType()">.definitions;
  let hasVerifier = 1;
}

def Titan_StopGradientOp : Titan_Op<"stop_gradient", [Pure, Titan_View, Titan_InferType]> {
  let summary = "the identity without a gradient";
  let description = [{
    The operand gets no cotangent. The gradient phase removes the operation.

    Constraints:
    - (C1) operand and result are equal up to sharding.

    Example: `%top = titan.stop_gradient %0 : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let extraClassDeclaration = Titan_InferTypeDeclarations;
  let definitions = Titan_InferTypeAs<"operands[0].getType()">.definitions;
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Titan_ContractOp : Titan_Op<"contract", [Pure]> {
  let summary = "Einstein summation of two tensors by dimension names";
  let description = [{
    Multiplies and sums over the dimensions that both operands have and the result lacks. Dimensions of
    both operands and the result are batch dimensions. Sums are computed in f32 at least and rounded once,
    to the type of the result.

    With `into`, the sums are added to that tensor; the result may overwrite it.

    Constraints:
    - (C1) every dimension of the result is a dimension of an operand, of the same size.
    - (C2) a dimension that the result lacks is a dimension of both operands.
    - (C3) the operands have one element type; the result has that type or a wider floating-point type.
    - (C4) `into` has the dimensions and the element type of the result.
    - (C5) the operands are not i1.

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

def Titan_ReduceOp : Titan_Op<"reduce", [Pure, Titan_RowFusable]> {
  let summary = "sum, maximum or minimum over dimensions";
  let description = [{
    Reduces over the dimensions of the operand that the result lacks. Sums are computed in f32 at least
    and rounded once, to the type of the result.

    Constraints:
    - (C1) the result's dimensions are a subset of the operand's.
    - (C2) the element type is the same; that of a sum may also be a wider floating-point type.
    - (C3) the operand of a sum is not i1.

    Example: `%s = titan.reduce sum %x : !titan.tensor<f32[seq = 8, embed = 4]> -> !titan.tensor<f32[seq = 8]>`
  }];
  let arguments = (ins Dist_ReductionKind:$kind, Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Titan_CheckIndexOp : Titan_Op<"check_index", [Pure, Titan_View, Titan_InferType]> {
  let summary = "a run-time bounds check of indices";
  let description = [{
    The identity, but the program fails if an index is negative or not below `size`: the global size,
    without padding, of the dimension `along` that a gather or scatter indexes. Inserted for indices whose
    range the compiler cannot prove.

    Constraints:
    - (C1) operand and result are equal up to sharding, of the element type i64.

    Example: `%i = titan.check_index %0 along "vocab" size 27 : !titan.tensor<i64[seq = 8]> -> !titan.tensor<i64[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$along, I64Attr:$size);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `along` $along `size` $size attr-dict `:` type($input) `->` type($result)";
  let extraClassDeclaration = Titan_InferTypeDeclarations;
  let definitions = Titan_InferTypeAs<"operands[0].getType()">.definitions;
  let hasVerifier = 1;
}

def Titan_GatherOp : Titan_Op<"gather", [Pure, Titan_RowFusable, Titan_Exact]> {
  let summary = "reads elements along a dimension at the indices of an integer tensor";
  let description = [{
    `table[vocab: tokens]`. The dimensions of the result are the union of the operand's, without the
    indexed one, and those of the indices; dimensions that both have are matched by name. If the indexed
    dimension is sharded, indices outside the rank's shard yield 0, so the result is unreduced over the
    axes of that dimension.

    Constraints:
    - (C1) the operand has the dimension `along`, the indices and the result lack it.
    - (C2) the dimensions of the result are the union of the remaining ones.
    - (C3) the indices are i64; 0 <= index < size of `along`. `titan.check_index` checks ranges that are
      not known; an index out of range yields 0.

    Example: `%x = titan.gather %table along "vocab" at %tokens : (!titan.tensor<f32[vocab = 16, embed = 4]>,
    !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8, embed = 4]>`
  }];
  let arguments = (ins Titan_Tensor:$input, Titan_Tensor:$indices, StrAttr:$along);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `along` $along `at` $indices attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Titan_ScatterOp : Titan_Op<"scatter", [Pure, Titan_RowFusable]> {
  let summary = "adds updates at the indices of an integer tensor (transpose of gather)";
  let description = [{
    result[..., indices[i], ...] += updates[i, ...]; all other elements are 0. Sums over the dimensions of
    the updates that the result lacks. Sums are computed in f32 at least and rounded once.

    With `into`, the initial value is that tensor instead of zeros; the result may overwrite it. The
    gradient of a table from gathered rows is added to another gradient of the table in this manner, without
    a second table.

    Constraints:
    - (C1) the result has the dimension `along`, updates and indices lack it.
    - (C2) the other dimensions of the result are dimensions of the updates or indices.
    - (C3) the indices are i64.
    - (C4) the element type is the same, or that of the result is a wider floating-point type.
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
    /// Each element of the result has at most one update and the initial value 0: an elementwise select.
    bool isOneHot();
    /// Each element has so few updates that sums need no blocks (base/kernels/SumBlocks.h).
    bool hasFewTerms();
  }];
  let hasVerifier = 1;
}

def Titan_GroupedContractOp : Titan_Op<"grouped_contract", [Pure]> {
  let summary = "contraction with the element of a table that an index selects (grouped matrix product)";
  let description = [{
    The Einstein summation of two tensors and of the one-hot encoding of the indices along `along`. Either
    of two tensors is a table with this dimension:

    - the right operand: result = contract(lhs, gather(rhs, indices)), without the gathered tensor;
    - the result: result = scatter(products of lhs and rhs, indices), without the products. This is the
      gradient of a table.

    An index outside of the table selects nothing: its products are 0. If the dimension is sharded, so
    are the indices of other ranks; a result without it is then unreduced over the axes of that
    dimension. The work follows the indices, not the size of the table: the rows of one element are one
    matrix product (Gale et al. 2022, MegaBlocks, arXiv 2211.15841). Sums are computed in f32 at least
    and rounded once.

    A result without `along` may lack dimensions of the indices. A row is then a sum over several indices,
    such as the weighted sum over the elements that a token selects.

    With `into`, the sums are added to that tensor; the result may overwrite it.

    Constraints:
    - (C1) exactly one of right operand and result has the dimension `along`; no other tensor has it.
    - (C2) every other dimension of the result is a dimension of an operand, of the same size.
    - (C3) a dimension that the result lacks is a dimension of two operands.
    - (C4) a result without `along` that lacks a dimension of the indices has an element type in which many
      terms are added: at least f32.
    - (C5) a dimension of both operands and the result is a dimension of the indices.
    - (C6) the operands have one floating-point type; the result has that type or a wider one.
    - (C7) the indices are i64.
    - (C8) `into` has the dimensions and the element type of the result.

    Example: `%y = titan.grouped_contract %x, %w along "experts" at %chosen :
    (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[experts = 4, embed = 4, ffn = 6]>,
    !titan.tensor<i64[seq = 8, slot = 2]>) -> !titan.tensor<f32[seq = 8, slot = 2, ffn = 6]>`
  }];
  let arguments = (ins Titan_Tensor:$lhs, Titan_Tensor:$rhs, Titan_Tensor:$indices, StrAttr:$along,
                       Optional<Titan_Tensor>:$into);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `along` $along `at` $indices (`into` $into^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "mlir::Type":$result, "mlir::Value":$lhs, "mlir::Value":$rhs, "mlir::Value":$indices,
                   "mlir::StringAttr":$along),
              [{ build($_builder, $_state, result, lhs, rhs, indices, along, mlir::Value()); }]>
  ];
  let extraClassDeclaration = [{
    /// The tensor with the dimension `along`: the right operand or the result.
    mlir::Value getTable();
    /// The tensor with a row per index that is not `lhs`: the result or the right operand.
    mlir::Value getOtherRows();
    /// The dimensions of the rows: those of the indices, and those of `lhs` and the other rows that
    /// the table lacks. Their order is that of the other rows, then of the indices.
    llvm::SmallVector<DimAttr> getRowDims();
    /// The dimensions of the table, except those of the indices and `along`, that `rows` has.
    llvm::SmallVector<DimAttr> getTableDims(NamedTensorType rows);
    /// Whether each row of the result is a sum over several indices.
    bool sumsIndices();
  }];
  let hasVerifier = 1;
}

def Titan_RenameOp : Titan_Op<"rename", [Pure, Titan_View]> {
  let summary = "new names for dimensions";
  let description = [{
    Dimension i of the result is dimension i of the operand. A view.

    Constraints:
    - (C1) operand and result have the same rank, sizes and element type.

    Example: `%k1 = titan.rename %k : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[keys = 8 of seq]>`
  }];
  let arguments = (ins Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Titan_SplitOp : Titan_Op<"split", [Pure, Titan_View]> {
  let summary = "replaces one dimension by several, outer to inner";
  let description = [{
    Constraints:
    - (C1) the result is the operand with dimension `dim` replaced by new dimensions; the product of
      their sizes is its size.

    Example: `%y = titan.split %x dim "head" : !titan.tensor<f32[seq = 8, head = 4]>
    -> !titan.tensor<f32[seq = 8, pair = 2, two = 2]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$dim);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Titan_MergeOp : Titan_Op<"merge", [Pure, Titan_View]> {
  let summary = "replaces adjacent dimensions by one (inverse of split)";
  let description = [{
    Constraints:
    - (C1) the operand is the result with dimension `dim` replaced by several dimensions; the product of
      their sizes is its size.

    Example: `%y = titan.merge %x dim "embed" : !titan.tensor<f32[seq = 8, heads = 2, head = 4]>
    -> !titan.tensor<f32[seq = 8, embed = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$dim);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Titan_SliceOp : Titan_Op<"slice", [Pure, Titan_Rematerialisable, Titan_Exact]> {
  let summary = "a range of a dimension";
  let description = [{
    The elements offset <= i < offset + size of dimension `dim`. The dimension of the result at that
    position has the size of the range and may have another name.

    Constraints:
    - (C1) the range is within the dimension.
    - (C2) the other dimensions are unchanged.

    Example: `%y = titan.slice %x dim "seq" from 2 : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[prefix = 4 of seq]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$dim, I64Attr:$offset);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim `from` $offset attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Titan_PadOp : Titan_Op<"pad", [Pure, Titan_Exact]> {
  let summary = "a dimension extended with zeros on both sides (transpose of slice)";
  let description = [{
    The operand is at the indices offset <= i < offset + size of dimension `dim` of the result; all other
    elements are 0. A concatenation is a sum of pads.

    Constraints:
    - (C1) the range is within the dimension of the result.
    - (C2) the other dimensions are unchanged.

    Example: `%y = titan.pad %x dim "seq" from 2 : !titan.tensor<f32[prefix = 4 of seq]> -> !titan.tensor<f32[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$dim, I64Attr:$offset);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim `from` $offset attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Titan_InsertSliceOp : Titan_Op<"insert_slice", [Pure, Titan_Exact]> {
  let summary = "a tensor with a range of a dimension replaced";
  let description = [{
    `into`, but its elements start <= i < start + n of dimension `dim` are those of the operand, where n is
    the operand's size of `dim`. The result may overwrite `into`. A rank that has a shard of `dim` replaces
    the elements of the range that it has. `start` may have other dimensions: then each index of these has
    its range.

    Constraints:
    - (C1) `into` and the result are equal up to sharding and have the dimension `dim`.
    - (C2) the operand has their element type, and their dimensions except for the size of `dim`, which is
      at most theirs.
    - (C3) `start` is an i64 of rank 0, or with other dimensions of the result. The range is within the
      dimension at run time.

    Example: `%y = titan.insert_slice %x into %cache dim "seq" from %p : (!titan.tensor<f32[seq = 1]>,
    !titan.tensor<f32[seq = 8]>, !titan.tensor<i64[]>) -> !titan.tensor<f32[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input, Titan_Tensor:$into, Titan_Tensor:$start, StrAttr:$dim);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = [{
    $input `into` $into `dim` $dim `from` $start attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TITAN_TENSOR_OPS_TD
