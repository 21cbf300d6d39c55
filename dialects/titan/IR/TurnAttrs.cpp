// Verification of periods and turns.

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan::ir;

LogicalResult PeriodAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t every,
                                 int64_t offset) {
  if (every < 1 || offset < 0)
    return emitError() << "(C1) expected every >= 1 and offset >= 0, got " << every << " and "
                       << offset;
  return success();
}

LogicalResult TurnAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayAttr due,
                               ArrayAttr idle) {
  if (due.empty() || !llvm::all_of(due, llvm::IsaPred<PeriodAttr>) ||
      !llvm::all_of(idle, llvm::IsaPred<PeriodAttr>))
    return emitError() << "(C1) expected periods, at least one of them due, got " << due << " and "
                       << idle;
  return success();
}
