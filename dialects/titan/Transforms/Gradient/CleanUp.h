//===- CleanUp.h - Tidies a differentiated function -------------*- C++ -*-===//
//
// Reverse mode builds the same expression in several places (a division for each operand, a square
// for forward and backward); this merges them. Constants are the exception: a repeat's body keeps
// its own, so that no loop reads a constant from a buffer outside and nothing scalar is captured.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CLEANUP_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CLEANUP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::ir {

/// Erases dead operations, merges equal ones, and gives every block constants of its own.
void cleanUp(mlir::func::FuncOp function);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CLEANUP_H
