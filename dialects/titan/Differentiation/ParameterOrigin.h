//===- ParameterOrigin.h - Is a value a parameter? --------------*- C++ -*-===//
//
// Tells weight gradients from data gradients: a value is a parameter if it is one of the
// function's, a repeat's slice of one, or one of these cast, renamed, reshaped or cut. On that
// hangs the element type of a cotangent: gradients of parameters are summed over many terms, uses
// and processes in the type that the run declares for it, other cotangents have their value's type.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_DIFFERENTIATION_PARAMETERORIGIN_H
#define TITAN_DIALECTS_TITAN_DIFFERENTIATION_PARAMETERORIGIN_H

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

bool isFromParameter(mlir::Value value);

/// The type of a value's cotangent: its own, with the declared element type (`Precision::reduce`)
/// where it is a parameter.
NamedTensorType getCotangentType(mlir::Value value);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_DIFFERENTIATION_PARAMETERORIGIN_H
