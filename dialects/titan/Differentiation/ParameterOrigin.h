// Distinguishes values that derive from parameters.
//
// A parameter of the function and a slot of a stacked parameter derive from a parameter, and so do
// their casts, renames, reshapes and slices. The cotangents of these values are terms of gradients
// of parameters. Gradients of parameters are sums over many terms, uses and ranks, so they have the
// declared gradient dtype. Other cotangents have the dtype of their value.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

bool isFromParameter(mlir::Value value);

/// The type of a value's cotangent: the value's type, with the gradient dtype (`reduce` of
/// PrecisionAttr) if the value derives from a parameter.
NamedTensorType getCotangentType(mlir::Value value);

} // namespace titan::ir
