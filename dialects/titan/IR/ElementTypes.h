//===- ElementTypes.h - Rules of mixed precision ----------------*- C++ -*-===//
//
// The element types of sums, and the element types that a run declares (`precision { ... }`) for
// gradients of parameters, sums over ranks and optimizer state.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_IR_ELEMENTTYPES_H
#define TITAN_DIALECTS_TITAN_IR_ELEMENTTYPES_H

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

/// The declared element types of a program function, `titan.precision`. Null means no declaration:
/// values keep their types.
struct Precision {
  mlir::Type compute;           ///< of values outside islands
  mlir::Type reduce;            ///< of parameters' gradients
  mlir::Type activationsReduce; ///< of sums over ranks of values of type `compute`
  mlir::Type optimizer;         ///< of optimizer state

  /// Of the function `op`, or of the function that contains `op`.
  static Precision get(mlir::Operation *op);
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_ELEMENTTYPES_H
