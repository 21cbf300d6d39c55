// Scalar constants.

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan::ir;

void ConstantOp::build(OpBuilder &builder, OperationState &state, NamedTensorType type,
                       double number) {
  TypedAttr value = builder.getF64FloatAttr(number);
  if (!isa<FloatType>(type.getElementType()))
    value = builder.getI64IntegerAttr(static_cast<int64_t>(number));
  build(builder, state, type, value);
}

LogicalResult ConstantOp::verify() {
  NamedTensorType type = getResult().getType();
  if (type.getRank() != 0)
    return emitOpError("(C1) expected a result of rank 0, got ") << type;
  bool fits = getValue().getType().isF64();
  if (!isa<FloatType>(type.getElementType()))
    fits = getValue().getType().isSignlessInteger(64);
  if (!fits)
    return emitOpError("(C2) expected ")
           << (isa<FloatType>(type.getElementType()) ? "a floating-point number" : "an integer")
           << ", got " << getValue();
  if (type.getElementType().isInteger(1) && getInteger() != 0 && getInteger() != 1)
    return emitOpError("(C2) a boolean is 0 or 1, got ") << getInteger();
  return success();
}

double ConstantOp::getNumber() {
  if (auto number = dyn_cast<FloatAttr>(getValue()))
    return number.getValueAsDouble();
  return static_cast<double>(getInteger());
}

int64_t ConstantOp::getInteger() {
  return cast<IntegerAttr>(getValue()).getInt();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) {
  return getValue();
}

ConstantOp titan::ir::getConstant(Value value) {
  while (auto expand = value.getDefiningOp<ExpandOp>())
    value = expand.getInput();
  return value.getDefiningOp<ConstantOp>();
}

Operation *TitanDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                             Location loc) {
  auto tensor = dyn_cast<NamedTensorType>(type);
  auto number = dyn_cast<TypedAttr>(value);
  if (!tensor || !number || tensor.getRank() != 0 || tensor.getShardingOrReplicated().isPartial())
    return nullptr;
  return builder.create<ConstantOp>(loc, tensor, number);
}
