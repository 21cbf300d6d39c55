// The operations that a later loop evaluates again, and what they read.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace titan::fusion {

struct RecomputeChain {
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order; the last one is recomputed
  llvm::SetVector<mlir::Value> leaves;      ///< operands of `ops` that are not recomputed
};

/// The operations that compute the result of `op`: with the producer of an operand that has the
/// dimensions of this result, if `isRecomputed` says so.
RecomputeChain findRecomputeChain(mlir::Operation *op,
                                  llvm::function_ref<bool(mlir::Operation *producer)> isRecomputed);

} // namespace titan::fusion
