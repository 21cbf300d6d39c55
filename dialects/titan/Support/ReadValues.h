//===- ReadValues.h - The values that an operation reads --------*- C++ -*-===//

#ifndef TITAN_DIALECTS_TITAN_SUPPORT_READVALUES_H
#define TITAN_DIALECTS_TITAN_SUPPORT_READVALUES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {

/// The operands of `op`, then the values that its regions capture; each once.
llvm::SetVector<mlir::Value> getReadValues(mlir::Operation *op);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_SUPPORT_READVALUES_H
