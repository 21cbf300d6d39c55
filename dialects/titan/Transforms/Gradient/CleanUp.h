//===- CleanUp.h - Simplifies a differentiated function ---------*- C++ -*-===//
//
// Reverse mode builds equal expressions several times: a division per operand, a square in the
// forward and in the backward pass. CSE merges these. Constants are an exception: each body of a
// repeat has its own, so that no loop captures a scalar or reads a constant from memory.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CLEANUP_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CLEANUP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::ir {

/// Erases dead operations, merges equal ones, and copies constants into the blocks that use them.
void cleanUp(mlir::func::FuncOp function);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CLEANUP_H
