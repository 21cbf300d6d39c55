//===- Rounding.h - Element types ------------------------------*- C++ -*-===//
//
// Values are held as doubles and rounded to their element type after every operation, to nearest
// even, as the emitted program's stores do.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_ROUNDING_H
#define TITAN_COMPILER_INTERPRETER_ROUNDING_H

#include "mlir/IR/Types.h"

#include <vector>

namespace titan::interpreter {

/// Rounds every value to f32 or bf16; other element types hold doubles exactly.
void roundTo(mlir::Type elementType, std::vector<double> &values);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_ROUNDING_H
