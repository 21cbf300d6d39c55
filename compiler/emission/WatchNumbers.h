// What a training step tells the runtime when it looks for the operation that makes an infinity or
// a not-a-number (runtime/lib/numbers). Only in programs with `check_numbers = true`.
//
// Operations that compute numbers announce their operands and results. Others, which move numbers
// or choose between them, make none. The values within a fused operation have no memory; code
// beside it computes them one by one.
#pragma once

#include "compiler/emission/FunctionEmitter.h"

namespace titan::emission {

/// Whether the run has `check_numbers = true`.
bool watchesNumbers(mlir::ModuleOp module);
/// Likewise, of a function that steps run: these can be run again.
bool watchesNumbers(mlir::func::FuncOp function);

/// Whether the operation may make an infinity or a not-a-number from other numbers. Fused
/// operations and waits may.
bool mayMakeNonFinite(mlir::Operation *op);

} // namespace titan::emission
