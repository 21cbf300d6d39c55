// Memory format of elements.
//
// The format of the emitted program: IEEE numbers in native byte order, integers of eight bytes,
// booleans of one byte.
#pragma once

#include "mlir/IR/Types.h"

#include <cstddef>
#include <vector>

namespace titan::interpreter {

/// Bytes of one element; 0 for types without a memory format.
int64_t getElementBytes(mlir::Type type);

/// Convert between bytes and doubles that are already rounded to `type`.
void storeElements(mlir::Type type, const std::vector<double> &values, std::byte *to);
void loadElements(mlir::Type type, const std::byte *from, std::vector<double> &values);

} // namespace titan::interpreter
