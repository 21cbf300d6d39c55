//===- NeuralOps.cpp - Constraints of the composites ----------------------===//

#include "dialects/titan/IR/Titan.h"

#include <cmath>

using namespace mlir;
using namespace titan::ir;

#define GET_OP_CLASSES
#include "dialects/titan/IR/NeuralOps.cpp.inc"

LogicalResult RotaryOp::verify() {
  NamedTensorType input = getInput().getType();
  if (!input.equalsUpToSharding(getResult().getType()) || !input.hasDim(getAlongAttr()) ||
      !input.hasDim(getDimAttr()))
    return emitOpError("(C1) expected equal types with dimensions ") << getAlongAttr() << " and "
           << getDimAttr() << ", got " << input << " and " << getResult().getType();
  int64_t size = input.getDims()[input.indexOf(getDimAttr())].getSize();
  if (size % 2 != 0)
    return emitOpError("(C2) dimension ") << getDimAttr() << " has the odd size " << size;
  if (getThetaAttr() ? getFrequenciesAttr() != nullptr
                     : static_cast<int64_t>(getFrequencies().value_or(ArrayRef<double>()).size()) !=
                           size / 2)
    return emitOpError("(C3) expected either theta or ") << size / 2 << " frequencies";
  return success();
}

SmallVector<double> RotaryOp::getRadians() {
  if (std::optional<ArrayRef<double>> frequencies = getFrequencies())
    return SmallVector<double>(*frequencies);
  NamedTensorType type = getInput().getType();
  int64_t pairs = type.getDims()[type.indexOf(getDimAttr())].getSize() / 2;
  SmallVector<double> radians;
  for (int64_t i = 0; i < pairs; ++i)
    radians.push_back(std::pow(getTheta()->convertToDouble(), -static_cast<double>(i) / pairs));
  return radians;
}

/// Constraints C1 and C2 of attention and its gradient.
static LogicalResult verifyOperands(Operation *op, StringAttr along, StringAttr head, NamedTensorType q,
                                    NamedTensorType k, NamedTensorType v) {
  for (NamedTensorType type : {q, k, v})
    if (!type.hasDim(along) || !type.hasDim(head))
      return op->emitOpError("(C1) expected dimensions ") << along << " and " << head << " in " << type;
  if (k.getDims() != v.getDims())
    return op->emitOpError("(C1) k and v differ: ") << k << " and " << v;
  for (DimAttr dim : k.getDims())
    if (!llvm::is_contained(q.getDims(), dim))
      return op->emitOpError("(C2) q lacks dimension ") << dim << " of k";
  return success();
}

LogicalResult AttentionOp::verify() {
  NamedTensorType q = getQuery().getType(), lse = getLse().getType();
  if (failed(verifyOperands(*this, getAlongAttr(), getHeadAttr(), q, getKey().getType(),
                            getValue().getType())))
    return failure();
  SmallVector<DimAttr> withoutHead;
  for (DimAttr dim : q.getDims())
    if (dim.getName() != getHeadAttr())
      withoutHead.push_back(dim);
  if (getResult().getType().getDims() != q.getDims() || lse.getDims() != ArrayRef(withoutHead))
    return emitOpError("(C3) expected a result like q and an lse like q without ") << getHeadAttr();
  return success();
}

LogicalResult AttentionGradOp::verify() {
  NamedTensorType q = getQuery().getType(), k = getKey().getType();
  if (failed(verifyOperands(*this, getAlongAttr(), getHeadAttr(), q, k, getValue().getType())))
    return failure();
  if (getDQuery().getType().getDims() != q.getDims() || getDKey().getType().getDims() != k.getDims() ||
      getDValue().getType().getDims() != k.getDims())
    return emitOpError("(C1) expected results like q, k and v");
  if (getCotangent().getType().getDims() != q.getDims() || getResult().getType().getDims() != q.getDims())
    return emitOpError("(C2) expected a cotangent and a result like q");
  return success();
}
