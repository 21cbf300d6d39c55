//===- TensorBuilder.h - Arithmetic of named tensors ------------*- C++ -*-===//
//
// Builds operations at one location. Operands join by dimension
// name, so a rule reads like its formula. Three simplifications are made on the way, because every
// program meets them at once (the seed is 1, a mean repeats its cotangent): a product with 1 is the
// other factor, a repeated (`titan.expand`) operand is not repeated where the other operand has its
// dimensions, and a sum over no dimension is the value itself.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_SUPPORT_TENSORBUILDER_H
#define TITAN_DIALECTS_TITAN_SUPPORT_TENSORBUILDER_H

#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/Builders.h"

namespace titan::ir {

/// The location of a gradient: the source line of `origin`, named `d_<name of value>` where the
/// value has a name, so that emitted code says which gradient a statement computes.
mlir::Location getGradientLoc(mlir::Location origin, mlir::Value value);

/// The type with all dimensions of both, those of `lhs` first unless `rhs` has them all.
NamedTensorType joinTypes(NamedTensorType lhs, NamedTensorType rhs);

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
  /// `roundBeforeReduce` as in titan.cast: a narrower partial sum is added up in its narrower type.
  mlir::Value cast(mlir::Value value, mlir::Type elementType, bool roundBeforeReduce = false);
  /// `value` with exactly the dimensions of `type`, in its order, and with its element type: sums
  /// over dimensions that the type lacks (the transpose of repetition), in the wider of the two
  /// element types, and repeats along those that the value lacks.
  mlir::Value fitTo(mlir::Value value, NamedTensorType type, bool roundBeforeReduce = false);

  /// Any other operation, at the current location.
  template <typename OpT, typename... Args> OpT create(Args &&...args) {
    return builder.create<OpT>(loc, std::forward<Args>(args)...);
  }

private:
  template <typename OpT> mlir::Value join(mlir::Value lhs, mlir::Value rhs);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_SUPPORT_TENSORBUILDER_H
