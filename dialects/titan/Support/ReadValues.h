// The values that an operation reads.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {

/// The operands of `op`, then the values that its regions capture; each once.
llvm::SetVector<mlir::Value> getReadValues(mlir::Operation *op);

} // namespace titan::ir
