// Rounding to element types.
//
// Values are doubles. After every operation they are rounded to their element type, to nearest
// even, like the stores of the emitted program.
#pragma once

#include "mlir/IR/Types.h"

#include <vector>

namespace titan::interpreter {

/// Rounds every value to f32 or bf16; doubles represent the other element types exactly.
void roundTo(mlir::Type elementType, std::vector<double> &values);

} // namespace titan::interpreter
