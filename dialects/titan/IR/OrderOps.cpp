// Constraints of top-k, cumulative sums and counts.

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan::ir;

#define GET_OP_CLASSES
#include "dialects/titan/IR/OrderOps.cpp.inc"

LogicalResult TopKOp::verify() {
  NamedTensorType input = getInput().getType(), values = getValues().getType();
  int64_t at = input.findDimIndex(getAlongAttr());
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

LogicalResult CumulativeCountOp::verify() {
  NamedTensorType input = getInput().getType();
  if (!input.equalsUpToSharding(getResult().getType()) || !input.getElementType().isInteger(64))
    return emitOpError("(C1) expected equal types of i64, got ")
           << input << " and " << getResult().getType();
  llvm::SmallDenseSet<Attribute> seen;
  for (auto dim : getOver().getAsRange<StringAttr>())
    if (!input.hasDim(dim) || !seen.insert(dim).second)
      return emitOpError("(C2) expected each counted dimension once in the operand ")
             << input << ", got " << getOver();
  if (seen.empty())
    return emitOpError("(C2) counts over no dimension");
  if (auto size = static_cast<int64_t>(getSize()); size < 1)
    return emitOpError("(C3) expected a positive size, got ") << size;
  return success();
}
