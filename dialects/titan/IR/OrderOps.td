// Operations that depend on an order of elements: top-k, cumulative sums and counts.

#ifndef TITAN_ORDER_OPS_TD
#define TITAN_ORDER_OPS_TD

include "dialects/titan/IR/TitanOpBase.td"

def Titan_TopKOp : Titan_Op<"top_k", [Pure]> {
  let summary = "the greatest elements along a dimension, and their indices";
  let description = [{
    The first result contains the k greatest elements along `along`, in descending order, the second
    their global indices. Equal elements are in ascending order of their indices. With NaNs, the choice of
    elements is unspecified. The gradient scatters the cotangents of the chosen elements to their
    indices; the indices have no gradient.

    Constraints:
    - (C1) the dimensions of the results are those of the operand with `along` replaced by another one.
    - (C2) the size k of that dimension is at most the size of `along`.
    - (C3) the values have the operand's element type, the indices are i64.

    Example: `%weights, %experts = titan.top_k %p along "experts" : !titan.tensor<f32[seq = 8, experts = 16]>
    -> !titan.tensor<f32[seq = 8, chosen = 2]>, !titan.tensor<i64[seq = 8, chosen = 2]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$along);
  let results = (outs Titan_Tensor:$values, Titan_Tensor:$indices);
  let assemblyFormat = [{
    $input `along` $along attr-dict `:` type($input) `->` type($values) `,` type($indices)
  }];
  let hasVerifier = 1;
}

def Titan_CumulativeSumOp : Titan_Op<"cumulative_sum", [Pure]> {
  let summary = "prefix sums along a dimension";
  let description = [{
    result[i] = sum over j <= i of x[j], in the order of the index; with `reverse`, over j >= i. The
    gradient is the cumulative sum in the other direction.

    Constraints:
    - (C1) operand and result are equal up to sharding, and have the dimension `along`.
    - (C2) the element type is a number, not i1.

    Example: `%ends = titan.cumulative_sum %lengths along "seq" : !titan.tensor<i64[seq = 8]>
    -> !titan.tensor<i64[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$along, UnitAttr:$reverse);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input `along` $along attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Titan_CumulativeCountOp : Titan_Op<"cumulative_count", [Pure]> {
  let summary = "how often each index occurred before";
  let description = [{
    result[i] = the number of elements j before i with x[j] = x[i]. i and j differ only in the dimensions
    `over`; the order is row-major in the listed order of these dimensions. The elements are indices of a
    dimension `along` with `size` elements; the result for an index out of range is 0. The results of equal
    indices are 0, 1, 2, ...: the slots of a list for each index. Compare `DataFrame.groupby(...).cumcount()`
    of pandas, and the positions in an expert's buffer (Lepikhin et al. 2020, GShard, arXiv 2006.16668,
    algorithm 1).

    Constraints:
    - (C1) operand and result are equal up to sharding, of the element type i64.
    - (C2) `over` lists dimensions of the operand, each once, and at least one.
    - (C3) `size` is positive.

    Example: `%slot = titan.cumulative_count %chosen along "experts" size 16 over ["seq", "choice"] :
    !titan.tensor<i64[seq = 8, choice = 2]> -> !titan.tensor<i64[seq = 8, choice = 2]>`
  }];
  let arguments = (ins Titan_Tensor:$input, StrAttr:$along, I64Attr:$size, StrArrayAttr:$over);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = [{
    $input `along` $along `size` $size `over` $over attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // TITAN_ORDER_OPS_TD
