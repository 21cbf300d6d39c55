// Builder of tensor arithmetic.
//
// Builds the operations of gradients at one location. Operands broadcast by dimension name, so that
// a rule resembles its formula. Rules need not simplify their results, because canonicalization
// does, for example products with the cotangent 1 of the loss.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/Builders.h"

namespace titan::ir {

/// The location of a gradient: that of `origin`, named `d_<name of value>` if the value has a name.
/// Emitted code then names the gradient that a statement computes.
mlir::Location getGradientLoc(mlir::Location origin, mlir::Value value);

/// Creates operations with `builder` at the current location.
class TensorBuilder {
public:
  TensorBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  void setLoc(mlir::Location newLoc) { loc = newLoc; }
  mlir::Location getLoc() const { return loc; }

  /// A constant of rank 0 with the element type of `like`.
  mlir::Value constant(double value, mlir::Value like);
  /// Zero with all dimensions of `type`.
  mlir::Value zeros(NamedTensorType type);
  mlir::Value neg(mlir::Value value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value scale(mlir::Value value, double factor);
  mlir::Value compare(ComparePredicate predicate, mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value whenTrue, mlir::Value whenFalse);
  /// `roundBeforeReduce` as in titan.cast: a partial sum in a narrower type is reduced in that
  /// type.
  mlir::Value cast(mlir::Value value, mlir::Type elementType, bool roundBeforeReduce = false);
  /// `value` with the dimensions of `type`, in their order, and its element type. Sums over
  /// dimensions that `type` lacks (the transpose of expansion) in the wider of the two element
  /// types, and expands along dimensions that the value lacks.
  mlir::Value fitTo(mlir::Value value, NamedTensorType type, bool roundBeforeReduce = false);

  /// `indices` + `start`: the global indices of a chunk that begins at `start`. The result has the
  /// dimensions of `start` first, as models have samples before positions.
  mlir::Value addStart(mlir::Value indices, mlir::Value start);
  /// A slice of `value`: the `range.getSize()` elements from index `start` on of the dimension with
  /// the name of `range`. `start` is an i64, of rank 0 or with dimensions that the result has
  /// first.
  mlir::Value sliceAt(mlir::Value value, DimAttr range, mlir::Value start);

  /// Creates any other operation at the current location.
  template <typename OpT, typename... Args> OpT create(Args &&...args) {
    return builder.create<OpT>(loc, std::forward<Args>(args)...);
  }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace titan::ir
