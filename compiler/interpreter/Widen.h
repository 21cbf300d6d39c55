// Widens a program to double precision.
//
// Passes are compared in float64, where reordered sums differ by 1e-15 and wrong programs by far
// more. In float32 the two might be confused.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace titan::interpreter {

/// Makes every floating-point element type of the module f64.
void widenToFloat64(mlir::ModuleOp module);

} // namespace titan::interpreter
