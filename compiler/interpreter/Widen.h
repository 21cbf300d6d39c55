//===- Widen.h - Widens a program to double precision -----------*- C++ -*-===//
//
// Passes are compared in float64, where reordered sums differ by 1e-15 and wrong programs by far
// more. In float32 the two might be confused.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_WIDEN_H
#define TITAN_COMPILER_INTERPRETER_WIDEN_H

#include "mlir/IR/BuiltinOps.h"

namespace titan::interpreter {

/// Makes every floating-point element type of the module f64.
void widenToFloat64(mlir::ModuleOp module);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_WIDEN_H
