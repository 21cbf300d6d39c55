// Rules of mixed precision.
//
// The element types of sums. PrecisionAttr has the element types that a run declares
// (`precision { ... }`).
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// The wider of two floating-point types.
mlir::Type getWider(mlir::Type a, mlir::Type b);

/// The type in which sums and formulas over elements of this type are computed: f32 at least. Types
/// other than floating-point types do not change.
mlir::Type getAccumulationType(mlir::Type element);

/// True if `result` is `terms` or a wider floating-point type: sums of `terms` may have this type,
/// so that they are not rounded to `terms` first.
bool isSameOrWiderFloat(mlir::Type terms, mlir::Type result);

/// True if `op` computes sums, so that its result may be wider than its operands.
bool isAccumulation(mlir::Operation *op);

} // namespace titan::ir
