//===- ElementBytes.h - Values as bytes -------------------------*- C++ -*-===//
//
// How elements lie in memory in the emitted program: IEEE numbers in the machine's order, integers
// of eight bytes, booleans of one.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_ELEMENTBYTES_H
#define TITAN_COMPILER_INTERPRETER_ELEMENTBYTES_H

#include "mlir/IR/Types.h"

#include <cstddef>
#include <vector>

namespace titan::interpreter {

/// Bytes of one element; 0 for a type that has no place in memory.
int64_t getElementBytes(mlir::Type type);

/// Converts between doubles, already rounded to `type`, and bytes.
void storeElements(mlir::Type type, const std::vector<double> &values, std::byte *to);
void loadElements(mlir::Type type, const std::byte *from, std::vector<double> &values);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_ELEMENTBYTES_H
