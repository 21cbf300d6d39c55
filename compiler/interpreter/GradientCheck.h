//===- GradientCheck.h - Gradients against differences ----------*- C++ -*-===//
//
// For every parameter with a gradient: the loss is evaluated a little to both sides of the
// parameter along one pseudo-random direction d of length 1, with components in all elements. The
// slope found must be the gradient's component along d. The five-point formula (error h^4,
// Abramowitz and Stegun, table 25.2) with h = 1e-3 leaves about 1e-11 in float64. Where they differ
// it is tried again with h = 1e-5 and 1e-7: the first step may have crossed the kink of a maximum.
// A loss whose slopes differ on both sides of the parameter itself (the greatest of equal values)
// has all between them for gradients. One that jumps there (the first of equal values is chosen,
// and it matters which) has none to be held against.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_GRADIENTCHECK_H
#define TITAN_COMPILER_INTERPRETER_GRADIENTCHECK_H

#include "compiler/interpreter/Session.h"

namespace titan::interpreter {

/// Prints a line for every parameter, and fails where a slope and a gradient differ by more than
/// `tolerance` times the gradient's norm, or where there is nothing to check.
mlir::LogicalResult checkGradients(Session &session, double tolerance, llvm::raw_ostream &stream);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_GRADIENTCHECK_H
