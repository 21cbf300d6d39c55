//===- Widen.h - A program in double precision ------------------*- C++ -*-===//
//
// Passes are compared in float64, where reordered sums differ by 1e-15 and a wrong program by far
// more; in float32 the two could be confused.
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
