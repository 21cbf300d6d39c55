//===- VjpModel.h - One operation's rule ------------------------*- C++ -*-===//
//
// A rule is a function `flow(OpT op, Vjp &vjp)` that hands each operand its cotangent. `Vjp` does
// what all rules share: it names the operations after the operand, leaves integers out, and brings
// the cotangent to the operand's dimensions (an operand that was repeated receives a sum) and to
// the element type of its cotangent.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_DIFFERENTIATION_VJPMODEL_H
#define TITAN_DIALECTS_TITAN_DIFFERENTIATION_VJPMODEL_H

#include "dialects/titan/Differentiation/ParameterOrigin.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/TensorBuilder.h"

namespace titan::ir {

class Vjp : public TensorBuilder {
public:
  Vjp(mlir::Operation *op, mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> cotangents,
      llvm::MutableArrayRef<mlir::Value> operandCotangents)
      : TensorBuilder(builder, op->getLoc()), op(op), cotangents(cotangents),
        operandCotangents(operandCotangents) {}

  /// The cotangent of result `i`; null where nothing flows.
  mlir::Value cotangent(unsigned i = 0) const { return cotangents[i]; }

  /// Hands operand `i` what `build` returns, brought to its dimensions.
  template <typename Fn> void flowTo(unsigned i, Fn build) {
    mlir::Value operand = op->getOperand(i);
    auto type = mlir::cast<NamedTensorType>(operand.getType());
    if (!mlir::isa<mlir::FloatType>(type.getElementType()))
      return;
    setLoc(getGradientLoc(op->getLoc(), operand));
    // What ranks have of a parameter's gradient is added up in the type declared for it.
    operandCotangents[i] =
        fitTo(build(), getCotangentType(operand), /*roundBeforeReduce=*/isFromParameter(operand));
  }

  /// The type of a sum of `terms` that becomes the cotangent of `operand`: made in the cotangent's
  /// element type where that is the wider one.
  NamedTensorType getSumType(mlir::Value operand, mlir::Value terms);
  /// The operand's dimensions with the element type of `value`.
  NamedTensorType getTypeLike(mlir::Value operand, mlir::Value value);

private:
  mlir::Operation *op;
  llvm::ArrayRef<mlir::Value> cotangents;
  llvm::MutableArrayRef<mlir::Value> operandCotangents;
};

/// The interface's model of `OpT`, made of the overload of `flow` that takes it.
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

#endif // TITAN_DIALECTS_TITAN_DIFFERENTIATION_VJPMODEL_H
