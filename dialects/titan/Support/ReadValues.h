// The values that an operation reads.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {

/// The operands of `op`, then the values from outside that its regions use; each once.
llvm::SetVector<mlir::Value> getReadValues(mlir::Operation *op);

} // namespace titan::ir
