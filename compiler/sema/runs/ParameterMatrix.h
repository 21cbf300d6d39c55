// Parameters that contractions use as matrices, or as batches of matrices.
//
// A contraction gives each dimension of its operand a role. It keeps the outputs of a matrix and
// sums its inputs. A dimension that both operands and the result have is a batch: each of its
// elements has a matrix of its own, as experts and heads have. An index, as in `w[experts:
// chosen]`, selects elements of a batch.
//
// Several uses of a parameter combine: what is a batch in one use is a batch. All other dimensions
// must have one role in all uses.
#pragma once

#include "compiler/sema/elaboration/Elaborator.h"

namespace titan::sema {

/// The matrices of a parameter, one for each element of `batch`. The sets have the order of the
/// parameter's dimensions.
struct MatrixRoles {
  DimSet batch;
  MatrixDims matrix;
};

/// The roles of a parameter's dimensions, or why it is no matrix.
struct MatrixUses {
  std::optional<MatrixRoles> roles;
  std::vector<MatrixObstacle> obstacles; ///< no roles: uses that prevent them; empty without uses
};

MatrixUses findMatrixUses(const Model &model, uint32_t parameter);

} // namespace titan::sema
