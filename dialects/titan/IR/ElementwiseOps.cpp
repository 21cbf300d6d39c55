// Constraints of elementwise operations, and the syntax of constants.

#include "dialects/titan/IR/Titan.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace titan::ir;

/// `3`, `-1.5e+00` or the bits of an f64, `0x7FF0000000000000`.
static ParseResult parseConstantValue(OpAsmParser &parser, TypedAttr &value) {
  const char *at = parser.getCurrentLocation().getPointer();
  if (*at == '-')
    ++at;
  while (llvm::isDigit(*at))
    ++at;
  if (*at == '.' || *at == 'x') {
    FloatAttr number;
    ParseResult result = parser.parseAttribute(number, parser.getBuilder().getF64Type());
    value = number;
    return result;
  }
  int64_t integer = 0;
  ParseResult result = parser.parseInteger(integer);
  value = parser.getBuilder().getI64IntegerAttr(integer);
  return result;
}

static void printConstantValue(OpAsmPrinter &printer, ConstantOp, TypedAttr value) {
  printer.printAttributeWithoutType(value);
}

static LogicalResult verifySameDims(Operation *op, NamedTensorType a, NamedTensorType b) {
  if (a.getDims() != b.getDims())
    return op->emitOpError("(C1) operand and result have different dimensions: ")
           << a << " and " << b;
  return success();
}

/// The dimensions of the result are the union of the operands' dimensions.
static LogicalResult verifyUnion(Operation *op, NamedTensorType result) {
  SmallVector<bool> covered(result.getRank(), false);
  for (Value operand : op->getOperands()) {
    auto type = cast<NamedTensorType>(operand.getType());
    for (DimAttr dim : type.getDims()) {
      int64_t i = result.findDimIndex(dim.getName());
      if (i < 0)
        return op->emitOpError("(C1) the result lacks the operand's dimension ") << dim.getName();
      if (result.getDims()[i].getSize() != dim.getSize())
        return op->emitOpError("(C1) dimension ")
               << dim.getName() << " has size " << dim.getSize() << " in an operand and "
               << result.getDims()[i].getSize() << " in the result";
      covered[i] = true;
    }
  }
  for (auto [dim, isCovered] : llvm::zip_equal(result.getDims(), covered))
    if (!isCovered)
      return op->emitOpError("(C1) no operand has the result's dimension ") << dim.getName();
  return success();
}

static LogicalResult verifyUnary(Operation *op) {
  auto input = cast<NamedTensorType>(op->getOperand(0).getType());
  auto result = cast<NamedTensorType>(op->getResult(0).getType());
  if (failed(verifySameDims(op, input, result)))
    return failure();
  if (!isa<FloatType>(input.getElementType()) || input.getElementType() != result.getElementType())
    return op->emitOpError("(C2) expected one floating-point element type, got ")
           << input.getElementType() << " and " << result.getElementType();
  return success();
}

static LogicalResult verifyBinary(Operation *op) {
  auto lhs = cast<NamedTensorType>(op->getOperand(0).getType());
  auto rhs = cast<NamedTensorType>(op->getOperand(1).getType());
  auto result = cast<NamedTensorType>(op->getResult(0).getType());
  if (failed(verifyUnion(op, result)))
    return failure();
  if (lhs.getElementType() != rhs.getElementType() ||
      lhs.getElementType() != result.getElementType())
    return op->emitOpError("(C2) element types differ: ")
           << lhs.getElementType() << ", " << rhs.getElementType() << " and "
           << result.getElementType();
  return success();
}

#define GET_OP_CLASSES
#include "dialects/titan/IR/ElementwiseOps.cpp.inc"

LogicalResult CompareOp::verify() {
  if (failed(verifyUnion(*this, getResult().getType())))
    return failure();
  if (getLhs().getType().getElementType() != getRhs().getType().getElementType() ||
      !getResult().getType().getElementType().isInteger(1))
    return emitOpError("(C2) expected operands of one element type and a result of i1");
  return success();
}

LogicalResult SelectOp::verify() {
  if (failed(verifyUnion(*this, getResult().getType())))
    return failure();
  Type element = getResult().getType().getElementType();
  if (!getCondition().getType().getElementType().isInteger(1) ||
      getWhenTrue().getType().getElementType() != element ||
      getWhenFalse().getType().getElementType() != element)
    return emitOpError("(C2) expected a condition of i1 and choices of the result's element type");
  return success();
}

LogicalResult CastOp::verify() {
  return verifySameDims(*this, getInput().getType(), getResult().getType());
}

LogicalResult CopyOp::verify() {
  NamedTensorType from = getInput().getType(), to = getResult().getType();
  if (from.getElementType() != to.getElementType() || from.getDims() != to.getDims())
    return emitOpError("(C1) operand and result differ: ") << from << " and " << to;
  return success();
}

LogicalResult ExpandOp::verify() {
  NamedTensorType input = getInput().getType(), result = getResult().getType();
  for (DimAttr dim : input.getDims())
    if (!llvm::is_contained(result.getDims(), dim))
      return emitOpError("(C1) the result lacks the operand's dimension ") << dim.getName();
  if (input.getElementType() != result.getElementType())
    return emitOpError("(C2) element types differ");
  return success();
}

LogicalResult IotaOp::verify() {
  NamedTensorType type = getResult().getType();
  if (type.getRank() != 1 || !type.getElementType().isInteger(64))
    return emitOpError("(C1) expected a result of rank 1 and element type i64, got ") << type;
  return success();
}

LogicalResult RandomOp::verify() {
  for (Value key : getKeys())
    if (cast<NamedTensorType>(key.getType()).getRank() != 0)
      return emitOpError("(C1) expected keys of rank 0, got ") << key.getType();
  if (!isa<FloatType>(getResult().getType().getElementType()))
    return emitOpError("(C2) expected a floating-point result, got ") << getResult().getType();
  if (getStarts().size() != getWhole().size())
    return emitOpError("(C3) expected a start for each of ")
           << getWhole().size() << " dimensions that are cut, got " << getStarts().size();
  for (Value start : getStarts())
    if (auto type = cast<NamedTensorType>(start.getType());
        type.getRank() != 0 || !type.getElementType().isInteger(64))
      return emitOpError("(C3) the start must be an i64 of rank 0, got ") << type;
  llvm::SmallDenseSet<StringAttr> seen;
  for (auto dim : getWhole().getAsRange<DimAttr>()) {
    int64_t at = getResult().getType().findDimIndex(dim.getName());
    bool isNew = seen.insert(dim.getName()).second;
    if (at < 0 || dim.getSize() < getResult().getType().getShape()[at] || !isNew)
      return emitOpError("(C4) ") << getResult().getType() << " is not a chunk of a tensor with "
                                  << dim << (isNew ? "" : ", which is there twice");
  }
  return success();
}

SmallVector<int64_t> RandomOp::getWholeShape() {
  SmallVector<int64_t> shape(getResult().getType().getShape());
  for (auto dim : getWhole().getAsRange<DimAttr>())
    shape[getResult().getType().findDimIndex(dim.getName())] = dim.getSize();
  return shape;
}

int64_t RandomOp::getStartStride(unsigned index) {
  auto dim = cast<DimAttr>(getWhole()[index]);
  SmallVector<int64_t> shape = getWholeShape();
  int64_t stride = 1;
  for (int64_t size :
       ArrayRef(shape).drop_front(getResult().getType().findDimIndex(dim.getName()) + 1))
    stride *= size;
  return stride;
}

ScalarFunctionOp ApplyOp::getCallee() {
  return SymbolTable::lookupNearestSymbolFrom<ScalarFunctionOp>(*this, getFunctionAttr());
}

LogicalResult ApplyOp::verify() {
  if (getResults().empty())
    return emitOpError("expected a result");
  auto first = cast<NamedTensorType>(getResults().front().getType());
  for (Type type : getInputs().getTypes())
    if (auto input = cast<NamedTensorType>(type);
        input.getRank() != 0 && failed(verifySameDims(*this, input, first)))
      return failure();
  for (Type type : getResults().getTypes())
    if (failed(verifySameDims(*this, first, cast<NamedTensorType>(type))))
      return failure();
  return success();
}

static bool haveSameElementTypes(TypeRange tensors, TypeRange numbers) {
  return tensors.size() == numbers.size() &&
         llvm::all_of(llvm::zip_equal(tensors, numbers), [](auto pair) {
           return cast<NamedTensorType>(std::get<0>(pair)).getElementType() ==
                  cast<NamedTensorType>(std::get<1>(pair)).getElementType();
         });
}

LogicalResult ApplyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<ScalarFunctionOp>(*this, getFunctionAttr());
  if (!callee)
    return emitOpError("no scalar function is called ") << getFunctionAttr();
  if (!haveSameElementTypes(getInputs().getTypes(), callee.getBody().getArgumentTypes()) ||
      !haveSameElementTypes(getResults().getTypes(), callee.getYield().getValues().getTypes()))
    return emitOpError("(C2) element types differ from those of ") << getFunctionAttr();
  return success();
}
