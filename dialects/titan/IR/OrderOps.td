//===- OrderOps.td - What depends on order along a dimension --------------===//

#ifndef TITAN_ORDER_OPS_TD
#define TITAN_ORDER_OPS_TD

include "dialects/titan/IR/TitanOpBase.td"

def Titan_TopKOp : Titan_Op<"top_k", [Pure]> {
  let summary = "the greatest elements along a dimension, and where they are";
  let description = [{
    The first result has the k greatest elements along `along`, in descending order, the second their
    global indices. Among equals the lowest index comes first. Where there are NaNs, which elements are
    chosen is not specified. The gradient puts the cotangents of the chosen elements where these came
    from; the choice itself has none.

    Constraints:
    - (C1) the results' dimensions are the operand's, with `along` replaced in place by another one.
    - (C2) the size of that one, k, is at most the size of `along`.
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
  let summary = "sums of all elements up to each, along a dimension";
  let description = [{
    result[i] = sum over j <= i of x[j], in the order of the index; with `reverse`, over j >= i. The
    gradient is the sum in the other direction.

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

#endif // TITAN_ORDER_OPS_TD
