// Tells models apart: whether a checkpoint is of the model that a program trains.
//
// Equal for two programs whose training computes the same operations on the same tensors by name,
// however sizes, numbers, element types, mesh, map and options of the run differ: all of these may
// change when a run is resumed, or show in the tensors' shapes.
#ifndef TITAN_COMPILER_SEMA_FINGERPRINT_H
#define TITAN_COMPILER_SEMA_FINGERPRINT_H

#include "compiler/sema/program/Program.h"

#include <string>

namespace titan::sema {

/// What the fingerprint is of, a line for each operation that the loss needs.
std::string describeStructure(const Model &model);

/// 16 hexadecimal digits.
std::string fingerprintOf(const Model &model);

} // namespace titan::sema

#endif
