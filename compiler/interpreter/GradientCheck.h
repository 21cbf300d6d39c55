// Gradients against finite differences.
//
// Evaluates the loss on both sides of each trained parameter, along one pseudo-random direction of
// length 1 with components in all elements. The slope must equal the gradient's component along it.
//
// The five-point formula (error h^4, Abramowitz and Stegun, table 25.2) with h = 1e-3 is accurate
// to about 1e-11 in float64. If slope and gradient differ, the check uses h = 1e-5 and 1e-7,
// because the first step may cross the kink of a maximum. If the slopes on both sides of the
// parameter differ (a maximum of equal values), every value between them is a gradient. If the loss
// jumps there (an argmax of equal values), it has no gradient to compare.
#pragma once

#include "compiler/interpreter/Session.h"

namespace titan::interpreter {

/// Prints one line per parameter. Fails if a slope and a gradient differ by more than `tolerance`
/// times the gradient's norm, or if there is nothing to check.
mlir::LogicalResult checkGradients(Session &session, double tolerance, llvm::raw_ostream &stream);

} // namespace titan::interpreter
