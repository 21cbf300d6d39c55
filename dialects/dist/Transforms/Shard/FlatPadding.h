// The padding of flat storage.
//
// Flat storage ends with padding where the degree does not divide the elements. An operation on
// chunks also computes there. A sum over chunks is right only if the padding is 0.
#pragma once

#include "mlir/IR/Value.h"

namespace titan::dist {

/// Whether the padding of `value`, if it is flat, is 0 in every iteration: in arguments of
/// functions, results of reshards, zeros, stacks and slots of such values, and results of
/// operations that compute 0 from them, also summed over iterations.
bool hasZeroPadding(mlir::Value value);

} // namespace titan::dist
