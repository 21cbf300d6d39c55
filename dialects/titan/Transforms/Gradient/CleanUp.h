// Simplifies a differentiated function.
//
// Reverse mode builds products with 1, the cotangent of the loss, and builds equal expressions
// several times: a division per operand, a square in the forward and in the backward pass.
// Canonicalization and CSE remove these. Constants are an exception: each body of a repeat has its
// own, so that no loop captures a scalar or reads a constant from memory.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::ir {

/// Canonicalizes, erases dead operations and unused stacked outputs, merges equal operations, and
/// copies constants into the blocks that use them.
void cleanUp(mlir::func::FuncOp function);

} // namespace titan::ir
