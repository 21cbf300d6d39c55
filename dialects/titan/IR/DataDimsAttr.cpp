// The dimensions of samples and positions.

#include "dialects/titan/IR/AttributeNames.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace titan::ir;

LogicalResult DataDimsAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr samples,
                                   StringAttr positions) {
  if (samples.empty() || (positions && (positions.empty() || samples == positions)))
    return emitError() << "(C1) expected different names, got " << samples << " and " << positions;
  return success();
}

DataDimsAttr DataDimsAttr::lookup(Operation *op) {
  auto module = llvm::dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<DataDimsAttr>(attr::kDataDims) : DataDimsAttr();
}
