// Generated definitions of the interfaces.

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/IR/Titan.h"

#include "dialects/titan/Interfaces/TitanInterfaces.cpp.inc"

mlir::LogicalResult titan::ir::verifyElementwise(mlir::Operation *op) {
  // The formula of an apply is the function that it calls.
  if (mlir::isa<ScalarOpInterface, ApplyOp>(op))
    return mlir::success();
  return op->emitOpError("is Elementwise, but does not implement ScalarOpInterface, which has the "
                         "formula of an element");
}
