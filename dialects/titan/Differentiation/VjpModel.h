// Model of a VJP rule.
//
// A rule is a function `flow(OpT op, Vjp &vjp)` that builds the cotangent of each operand. `Vjp`
// contains the steps that all rules share: it names operations after the operand, skips integer
// operands, and converts a cotangent to the operand's dimensions (an expanded operand receives a
// sum) and cotangent type.
#pragma once

#include "dialects/titan/Differentiation/ParameterOrigin.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/TensorBuilder.h"

namespace titan::ir {

/// The cotangents of one operation's operands, while its rule builds them.
class Vjp : public TensorBuilder {
public:
  Vjp(mlir::Operation *op, mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> cotangents,
      llvm::MutableArrayRef<mlir::Value> operandCotangents)
      : TensorBuilder(builder, op->getLoc()), op(op), cotangents(cotangents),
        operandCotangents(operandCotangents) {}

  /// The cotangent of result `i`; null if it has none.
  mlir::Value cotangent(unsigned i = 0) const { return cotangents[i]; }

  /// Sets the cotangent of operand `i` to the result of `build`, converted to the operand's
  /// dimensions.
  template <typename Fn> void flowTo(unsigned i, Fn build) {
    mlir::Value operand = op->getOperand(i);
    auto type = mlir::cast<NamedTensorType>(operand.getType());
    if (!mlir::isa<mlir::FloatType>(type.getElementType()))
      return;
    setLoc(getGradientLoc(op->getLoc(), operand));
    // Ranks reduce a parameter's gradient in the gradient dtype, and sums in the type of the
    // operand.
    mlir::Value built = build();
    const bool rounds = isFromParameter(operand) || isAccumulation(built.getDefiningOp());
    operandCotangents[i] = fitTo(built, getCotangentType(operand), /*roundBeforeReduce=*/rounds);
  }

  /// The type of a sum of `terms` that becomes the cotangent of `operand`: the operand's
  /// dimensions, with the wider one of the cotangent's and the terms' element types.
  NamedTensorType getSumType(mlir::Value operand, mlir::Value terms);
  /// The operand's dimensions with the element type of `value`.
  NamedTensorType getTypeLike(mlir::Value operand, mlir::Value value);

private:
  mlir::Operation *op;
  llvm::ArrayRef<mlir::Value> cotangents;
  llvm::MutableArrayRef<mlir::Value> operandCotangents;
};

/// The interface's model of `OpT`: calls the overload of `flow` for it.
template <typename OpT>
struct VjpModel : DifferentiableOpInterface::ExternalModel<VjpModel<OpT>, OpT> {
  mlir::LogicalResult buildVjp(mlir::Operation *op, mlir::OpBuilder &builder,
                               llvm::ArrayRef<mlir::Value> cotangents,
                               llvm::MutableArrayRef<mlir::Value> operandCotangents) const {
    Vjp vjp(op, builder, cotangents, operandCotangents);
    return flow(mlir::cast<OpT>(op), vjp);
  }
};

template <typename... Ops> void attachVjps(mlir::MLIRContext *context) {
  (Ops::template attachInterface<VjpModel<Ops>>(*context), ...);
}

} // namespace titan::ir
