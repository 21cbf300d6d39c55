// Properties of kinds of operations.
//
// Phases query these traits, not lists of operations, so that an operation of a plugin works in all
// of them. OpTraits.td declares the traits and says what each one states.
#pragma once

#include "mlir/IR/OpDefinition.h"

namespace titan::ir {

/// Reports an elementwise operation without the formula of its elements (ScalarOpInterface).
mlir::LogicalResult verifyElementwise(mlir::Operation *op);

template <typename Op> class Elementwise : public mlir::OpTrait::TraitBase<Op, Elementwise> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyElementwise(op); }
};
template <typename Op> class Broadcasting : public mlir::OpTrait::TraitBase<Op, Broadcasting> {};
template <typename Op> class Expensive : public mlir::OpTrait::TraitBase<Op, Expensive> {};
template <typename Op> class View : public mlir::OpTrait::TraitBase<Op, View> {};
template <typename Op>
class Rematerialisable : public mlir::OpTrait::TraitBase<Op, Rematerialisable> {};
template <typename Op> class Exact : public mlir::OpTrait::TraitBase<Op, Exact> {};
template <typename Op> class RowFusable : public mlir::OpTrait::TraitBase<Op, RowFusable> {};
template <typename Op> class InPlace : public mlir::OpTrait::TraitBase<Op, InPlace> {};

/// True for elementwise operations without operands: constants and indices. Each use computes its
/// element, so that they need neither memory nor an order.
inline bool isNullary(mlir::Operation *op) {
  return op->hasTrait<Elementwise>() && op->getNumOperands() == 0;
}

/// True for elementwise operations whose second evaluation costs less than to write and read the
/// result.
inline bool isCheap(mlir::Operation *op) {
  return op->hasTrait<Elementwise>() && !isNullary(op) && !op->hasTrait<Expensive>();
}

/// True if a row of the result can be computed from rows of operands, in one loop nest with other
/// such operations.
inline bool isRowFusable(mlir::Operation *op) {
  return op->hasTrait<Elementwise>() || op->hasTrait<RowFusable>();
}

/// True if element i of the result depends only on element i of operands: the result may overwrite
/// an operand of the same layout.
inline bool isInPlace(mlir::Operation *op) {
  return op->hasTrait<Elementwise>() || op->hasTrait<InPlace>();
}

} // namespace titan::ir
