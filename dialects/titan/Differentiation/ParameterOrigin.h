//===- ParameterOrigin.h - Is a value a parameter? --------------*- C++ -*-===//
//
// Tells weight gradients from data gradients: a value is a parameter if it is one of the
// function's, a repeat's slice of one, or one of these cast, renamed, reshaped or cut.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_DIFFERENTIATION_PARAMETERORIGIN_H
#define TITAN_DIALECTS_TITAN_DIFFERENTIATION_PARAMETERORIGIN_H

#include "mlir/IR/Value.h"

namespace titan::ir {

bool isFromParameter(mlir::Value value);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_DIFFERENTIATION_PARAMETERORIGIN_H
