// Parameters that contractions use as matrices.
#pragma once

#include "compiler/sema/elaboration/Elaborator.h"

namespace titan::sema {

/// The input and output dimensions of a parameter. Empty unless every use of the parameter is a
/// contraction that sums the same dimensions.
std::optional<MatrixDims> matrixDims(const Model &model, uint32_t parameter);

} // namespace titan::sema
