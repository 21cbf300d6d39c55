// Registration of the `dist` dialect.

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/DiscardableAttributes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace titan::dist;

#include "dialects/dist/IR/DistDialect.cpp.inc"
#include "dialects/dist/IR/DistEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/dist/IR/DistAttrs.cpp.inc"

void DistDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/dist/IR/DistAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/dist/IR/DistOps.cpp.inc"
      >();
}

mlir::LogicalResult DistDialect::verifyOperationAttribute(mlir::Operation *op,
                                                          mlir::NamedAttribute attribute) {
  return titan::ir::verifyDiscardable(op, titan::ir::getHolder(op), attribute);
}

mlir::LogicalResult DistDialect::verifyRegionArgAttribute(mlir::Operation *op, unsigned /*region*/,
                                                          unsigned /*argument*/,
                                                          mlir::NamedAttribute attribute) {
  return titan::ir::verifyDiscardable(op, titan::ir::OnArgument, attribute);
}

mlir::LogicalResult DistDialect::verifyRegionResultAttribute(mlir::Operation *op,
                                                             unsigned /*region*/,
                                                             unsigned /*result*/,
                                                             mlir::NamedAttribute attribute) {
  return titan::ir::verifyDiscardable(op, titan::ir::OnResult, attribute);
}
