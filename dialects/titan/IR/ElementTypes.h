//===- ElementTypes.h - Which element types things have ---------*- C++ -*-===//
//
// The rules of mixed precision, in one place: what a sum is made in, and what a run declares
// (`precision { ... }`) about parameters' gradients, sums over processes and optimizer state.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_IR_ELEMENTTYPES_H
#define TITAN_DIALECTS_TITAN_IR_ELEMENTTYPES_H

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// Of two floating-point types the one with more bits.
mlir::Type getWider(mlir::Type a, mlir::Type b);

/// The type in which sums and formulas over such elements are computed: f32 at least. Other than
/// floating-point types stay.
mlir::Type getAccumulationType(mlir::Type element);

/// Whether an operation that sums may give its sums as `result`: in the terms' own type, or in a
/// wider floating-point type, so that they are not rounded to the terms' type first.
bool isSameOrWiderFloat(mlir::Type terms, mlir::Type result);

/// Whether `op` sums and so can give its result in a wider type than its operands have.
bool isAccumulation(mlir::Operation *op);

/// The declared element types of a program function, `titan.precision`. A type that the function
/// does not declare is null: then everything keeps the type that it has.
struct Precision {
  mlir::Type compute;           ///< of values outside of islands
  mlir::Type reduce;            ///< of parameters' gradients
  mlir::Type activationsReduce; ///< of sums over processes of values of type `compute`
  mlir::Type optimizer;         ///< of optimizer state

  /// Of the function that `op` is, or is in.
  static Precision get(mlir::Operation *op);
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_ELEMENTTYPES_H
