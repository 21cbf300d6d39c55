// A fingerprint of the structure of a model. A resume compares it to check that a checkpoint
// belongs to the model of the program.
//
// It is equal for two programs whose training applies the same operations to the same named
// tensors. Sizes, numbers, element types, mesh, map and run options may differ: a resume may change
// them, or the shapes of the tensors show them.
#pragma once

#include "compiler/sema/program/Program.h"

#include <string>

namespace titan::sema {

/// The hashed text: one line per operation that the loss needs.
std::string describeStructure(const Model &model);

/// 16 hexadecimal digits.
std::string computeFingerprint(const Model &model);

} // namespace titan::sema
