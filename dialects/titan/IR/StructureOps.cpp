// Fused regions and scalar functions.

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

#define GET_OP_CLASSES
#include "dialects/titan/IR/StructureOps.cpp.inc"

YieldOp FusedOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// Constants and iotas have no rows: every row evaluates them.
static bool hasRows(Operation &op, ArrayAttr rows) {
  return llvm::all_of(op.getResultTypes(), [&](Type type) {
    auto tensor = cast<NamedTensorType>(type);
    return tensor.getRank() == 0 || isa<IotaOp>(op) ||
           llvm::all_of(rows.getAsRange<StringAttr>(),
                        [&](StringAttr row) { return tensor.hasDim(row); });
  });
}

LogicalResult FusedOp::verify() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || TypeRange(yield.getValues()) != TypeRange(getResults()))
    return emitOpError("(C1) expected a yield of the results' types");
  for (Operation &op : getBody().front().without_terminator())
    if (!hasRows(op, getRows()))
      return emitOpError("(C2) '")
             << op.getName() << "' lacks a dimension of the rows " << getRows();
  return success();
}

YieldOp ScalarFunctionOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

SmallVector<Operation *> ScalarFunctionOp::getSteps() {
  return llvm::map_to_vector(getBody().front().without_terminator(),
                             [](Operation &op) { return &op; });
}

/// (C3)
static LogicalResult verifySources(ScalarFunctionOp function, StringRef attribute) {
  auto sources = function->getAttrOfType<ArrayAttr>(attribute);
  if (!sources)
    return success();
  auto isF64 = [](Type type) { return cast<NamedTensorType>(type).getElementType().isF64(); };
  Block &body = function.getBody().front();
  TypeRange results = function.getYield().getOperandTypes();
  if (sources.size() != body.getNumArguments())
    return function.emitOpError("(C3) has ") << body.getNumArguments() << " arguments, but `"
                                             << attribute << "` lists " << sources.size();
  if (results.size() != 1 || !llvm::all_of(results, isF64) ||
      !llvm::all_of(body.getArgumentTypes(), isF64))
    return function.emitOpError("(C3) with `")
           << attribute << "`, expected f64 arguments and one f64 result";
  return success();
}

LogicalResult ScalarFunctionOp::verify() {
  if (!isa<YieldOp>(getBody().front().getTerminator()))
    return emitOpError("expected a yield at its end");
  auto isNumber = [](Type type) {
    auto tensor = dyn_cast<NamedTensorType>(type);
    return tensor && tensor.getRank() == 0;
  };
  if (!llvm::all_of(getBody().getArgumentTypes(), isNumber))
    return emitOpError("(C1) expected arguments of rank 0");
  for (Operation *op : getSteps()) {
    if (!op->hasTrait<Elementwise>() || op->getNumResults() != 1 ||
        isa<IotaOp, RandomOp, ApplyOp>(op))
      return emitOpError("(C2) '") << op->getName() << "' is not a function of one element";
    if (!isNumber(op->getResult(0).getType()))
      return emitOpError("(C1) '") << op->getName() << "' gives " << op->getResult(0).getType();
  }
  return success(succeeded(verifySources(*this, attr::kSchedule)) &&
                 succeeded(verifySources(*this, attr::kBatchValues)));
}
