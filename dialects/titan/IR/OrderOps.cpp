//===- OrderOps.cpp - Constraints of top-k and cumulative sums ------------===//

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan::ir;

#define GET_OP_CLASSES
#include "dialects/titan/IR/OrderOps.cpp.inc"

LogicalResult TopKOp::verify() {
  NamedTensorType input = getInput().getType(), values = getValues().getType();
  int64_t at = input.indexOf(getAlongAttr());
  if (at < 0 || values.getRank() != input.getRank() ||
      getIndices().getType().getDims() != values.getDims())
    return emitOpError("(C1) expected results like ")
           << input << " with another dimension in place of " << getAlongAttr() << ", got "
           << values << " and " << getIndices().getType();
  for (auto [i, from, to] : llvm::enumerate(input.getDims(), values.getDims()))
    if (static_cast<int64_t>(i) != at ? from != to : input.hasDim(to.getName()))
      return emitOpError("(C1) the results have dimension ") << to << " in place of " << from;
  DimAttr chosen = values.getDims()[at];
  if (chosen.getSize() > input.getDims()[at].getSize())
    return emitOpError("(C2) chooses ")
           << chosen.getSize() << " of " << input.getDims()[at].getSize();
  if (values.getElementType() != input.getElementType() ||
      !getIndices().getType().getElementType().isInteger(64))
    return emitOpError("(C3) expected values of ")
           << input.getElementType() << " and indices of i64";
  return success();
}

LogicalResult CumulativeSumOp::verify() {
  NamedTensorType input = getInput().getType();
  if (!input.equalsUpToSharding(getResult().getType()) || !input.hasDim(getAlongAttr()))
    return emitOpError("(C1) expected equal types with dimension ")
           << getAlongAttr() << ", got " << input << " and " << getResult().getType();
  if (input.getElementType().isInteger(1))
    return emitOpError("(C2) sums numbers, not i1");
  return success();
}
