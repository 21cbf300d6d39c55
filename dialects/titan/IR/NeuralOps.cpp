// Verifies the constraints of composite operations.

#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/Starts.h"

#include <cmath>

using namespace mlir;
using namespace titan::ir;

#define GET_OP_CLASSES
#include "dialects/titan/IR/NeuralOps.cpp.inc"

/// An i64 of rank 0.
static bool isIndex(Value value) {
  auto type = cast<NamedTensorType>(value.getType());
  return type.getRank() == 0 && type.getElementType().isInteger(64);
}

LogicalResult RotaryOp::verify() {
  NamedTensorType input = getInput().getType();
  if (!input.equalsUpToSharding(getResult().getType()) || !input.hasDim(getAlongAttr()) ||
      !input.hasDim(getDimAttr()))
    return emitOpError("(C1) expected equal types with dimensions ")
           << getAlongAttr() << " and " << getDimAttr() << ", got " << input << " and "
           << getResult().getType();
  int64_t size = input.getDims()[input.findDimIndex(getDimAttr())].getSize();
  if (size % 2 != 0)
    return emitOpError("(C2) dimension ") << getDimAttr() << " has the odd size " << size;
  if (Value start = getStart();
      start && !isStart(getTensorType(start), input, {getAlongAttr(), getDimAttr()}))
    return emitOpError(
               "(C4) the start must be an i64, one or one per index of other dimensions, got ")
           << start.getType();
  auto listed = static_cast<int64_t>(getFrequencies().value_or(ArrayRef<double>()).size());
  if (getTheta() ? listed != 0 : listed != size / 2)
    return emitOpError("(C3) expected either theta or ")
           << size / 2 << " frequencies, got " << (getTheta() ? "both" : std::to_string(listed));
  return success();
}

SmallVector<double> RotaryOp::getRadians() {
  if (std::optional<ArrayRef<double>> frequencies = getFrequencies())
    return SmallVector<double>(*frequencies);
  NamedTensorType type = getInput().getType();
  int64_t pairs = type.getDims()[type.findDimIndex(getDimAttr())].getSize() / 2;
  SmallVector<double> radians;
  for (int64_t i = 0; i < pairs; ++i)
    radians.push_back(std::pow(getTheta()->convertToDouble(), -static_cast<double>(i) / pairs));
  return radians;
}

DimAttr titan::ir::findValueHead(NamedTensorType key, NamedTensorType value, StringAttr head) {
  for (DimAttr dim : value.getDims())
    if (dim.getName() == head || !key.hasDim(dim.getName()))
      return dim;
  return nullptr;
}

/// The dimensions of `type` with `head` replaced by `other`, or removed if `other` is null.
static SmallVector<DimAttr> replaceHead(NamedTensorType type, StringAttr head, DimAttr other) {
  SmallVector<DimAttr> dims;
  for (DimAttr dim : type.getDims())
    if (dim.getName() != head)
      dims.push_back(dim);
    else if (other)
      dims.push_back(other);
  return dims;
}

/// Whether the queries are a chunk of a longer dimension.
static bool hasStart(AttentionOp op) {
  return bool(op.getStart());
}
static bool hasStart(AttentionGradOp) {
  return false;
}

/// Constraints C1 to C3 of attention.
template <typename Op> static LogicalResult verifyOperands(Op op) {
  NamedTensorType q = op.getQuery().getType(), k = op.getKey().getType(),
                  v = op.getValue().getType();
  StringAttr along = op.getAlongAttr(), head = op.getHeadAttr();
  for (NamedTensorType type : {q, k, v})
    if (!type.hasDim(along) || (type != v && !type.hasDim(head)))
      return op.emitOpError("(C1) expected dimensions ")
             << along << " and " << head << " in " << type;
  for (DimAttr dim : k.getDims())
    if (!llvm::is_contained(q.getDims(), dim) && !(dim.getName() == along && hasStart(op)))
      return op.emitOpError("(C2) q lacks dimension ") << dim << " of k";
  DimAttr valueHead = findValueHead(k, v, head);
  bool fits = valueHead && v.getRank() == k.getRank() &&
              (valueHead.getName() == head || !q.hasDim(valueHead.getName()));
  for (DimAttr dim : v.getDims())
    fits &= dim == valueHead || llvm::is_contained(k.getDims(), dim);
  if (!fits)
    return op.emitOpError("(C3) expected v to have the dimensions of ")
           << k << ", perhaps with one of its own "
           << "in place of " << head << ", got " << v;
  return success();
}

/// Constraints C5 to C7 of attention.
template <typename Op> static LogicalResult verifyMask(Op op) {
  if (op.getDocuments()) {
    auto documents = cast<NamedTensorType>(op.getDocuments().getType());
    bool fits = documents.getElementType().isInteger(64) && documents.hasDim(op.getAlongAttr()) &&
                !documents.hasDim(op.getHeadAttr());
    for (DimAttr dim : documents.getDims())
      fits &= llvm::is_contained(op.getKey().getType().getDims(), dim);
    if (!fits)
      return op.emitOpError("(C5) expected documents of i64 along ")
             << op.getAlongAttr() << " with dimensions of k, got " << documents;
  }
  if (op.getWindowAttr() && op.getWindowAttr().getInt() < 1)
    return op.emitOpError("(C6) the window ") << op.getWindowAttr().getInt() << " is less than 1";
  if (op.getSoftCap() && !(op.getSoftCap()->convertToDouble() > 0))
    return op.emitOpError("(C7) the soft cap ") << op.getSoftCapAttr() << " is not positive";
  return success();
}

/// Constraint C8 of attention.
template <typename Op> static LogicalResult verifyElementTypes(Op op) {
  Type element = op.getQuery().getType().getElementType();
  bool fits = isa<FloatType>(element) &&
              op.getLse().getType().getElementType() == getAccumulationType(element);
  for (Value value : {op.getKey(), op.getValue(), op.getResult()})
    fits &= cast<NamedTensorType>(value.getType()).getElementType() == element;
  if (!fits)
    return op.emitOpError(
               "(C8) expected q, k, v and the result of one floating-point type and an lse of "
               "that type, f32 at least, got ")
           << element << ", " << op.getKey().getType().getElementType() << ", "
           << op.getValue().getType().getElementType() << ", "
           << op.getResult().getType().getElementType() << " and "
           << op.getLse().getType().getElementType();
  return success();
}

/// Constraint C9 of attention.
template <typename Op> static LogicalResult verifyRing(Op op) {
  if (!op.getRingStep())
    return success();
  if (!isIndex(op.getRingStep()))
    return op.emitOpError("(C9) the step of a ring must be an i64 of rank 0, got ")
           << op.getRingStep().getType();
  auto getAxes = [&](Value value) {
    auto type = cast<NamedTensorType>(value.getType());
    return type.getShardingOrReplicated().getDimAxes()[type.findDimIndex(op.getAlongAttr())];
  };
  ArrayAttr axes = op.getRingAxesAttr(), queries = getAxes(op.getQuery());
  bool fits = axes == getAxes(op.getKey()) && axes == getAxes(op.getValue());
  for (Attribute axis : axes)
    fits &= llvm::is_contained(queries, axis);
  if (!fits)
    return op.emitOpError("(C9) expected positions of k and v over ")
           << axes << ", and those of q too, got " << getAxes(op.getKey()) << ", "
           << getAxes(op.getValue()) << " and " << queries;
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyElementTypes(*this)) ||
      failed(verifyRing(*this)))
    return failure();
  if (Value start = getStart(); start && !isStart(getTensorType(start), getTensorType(getKey()),
                                                  {getAlongAttr(), getHeadAttr()}))
    return emitOpError("(C10) the first position must be an i64, one or one per index of other "
                       "dimensions of k, got ")
           << start.getType();
  NamedTensorType q = getQuery().getType();
  if (getResult().getType().getDims() != ArrayRef(replaceHead(q, getHeadAttr(), getValueHead())) ||
      getLse().getType().getDims() != ArrayRef(replaceHead(q, getHeadAttr(), nullptr)))
    return emitOpError("(C4) expected a result like q with ")
           << getValueHead().getName() << " in place of " << getHeadAttr()
           << ", and an lse like q without " << getHeadAttr();
  return verifyMask(*this);
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyMask(*this)) ||
      failed(verifyElementTypes(*this)) || failed(verifyRing(*this)))
    return failure();
  NamedTensorType q = getQuery().getType();
  if (getDQuery().getType().getDims() != q.getDims() ||
      getDKey().getType().getDims() != getKey().getType().getDims() ||
      getDValue().getType().getDims() != getValue().getType().getDims())
    return emitOpError("(C2) expected results like q, k and v");
  auto result = replaceHead(q, getHeadAttr(), getValueHead()),
       lse = replaceHead(q, getHeadAttr(), nullptr);
  for (auto [value, dims] : {std::pair<Value, ArrayRef<DimAttr>>(getCotangent(), result),
                             {getResult(), result},
                             {getLse(), lse},
                             {getLseCotangent(), lse}})
    if (value && cast<NamedTensorType>(value.getType()).getDims() != dims)
      return emitOpError("(C3) expected a cotangent and a result like attention's, got ")
             << value.getType();
  return success();
}
