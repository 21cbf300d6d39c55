//===- OptimizerFunction.h - An optimizer as a function of tensors -*- C++ -*-===//
//
// An optimizer is a private function with the attribute `titan.optimizer`. All its floating-point
// values have one element type, in which the update is computed. Its arguments have roles:
// `titan.operand` is "parameter" or "gradient", `titan.scalar` "lr" or "step", `titan.state` the
// name of a state. Each result says by `titan.updates` which argument it replaces.
//
// The function is written for a parameter of one layer. Where the parameter is stacked over a
// repeat, the dimensions of the stack lead the type of every value that depends on a stacked one.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_OPTIMIZERFUNCTION_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_OPTIMIZERFUNCTION_H

#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace titan::ir {

class OptimizerFunction {
public:
  /// The optimizer that the argument `index` of `program` names by `titan.updated_by`; fails with
  /// an error at the program where there is none, or where its signature does not fit.
  static mlir::FailureOr<OptimizerFunction> get(mlir::func::FuncOp program, unsigned index);

  struct State {
    mlir::StringAttr name;
    unsigned argument;
  };
  llvm::ArrayRef<State> getStates() const { return states; }
  /// The type of a state of the parameter, in the element type `element`.
  NamedTensorType getStateType(const State &state, mlir::Type element) const;

  /// What an update reads: values of the program, of any floating-point element types.
  struct Operands {
    mlir::Value parameter, gradient, lr, step;
    /// Factor of the gradient; null: 1.
    mlir::Value scale;
    /// With this, a scale that is not a number leaves parameter and states as they are.
    bool skipsNan = false;
    llvm::SmallVector<mlir::Value> states;
  };
  /// Builds the update at `builder`: the new parameter, then the new states, each of its operand's
  /// type. An elementwise update becomes one `titan.apply`; others become the operations of the
  /// function, one by one.
  llvm::SmallVector<mlir::Value> build(mlir::OpBuilder &builder, mlir::Location loc,
                                       const Operands &operands) const;

  /// Whether every operation maps one element to one element.
  bool isElementwise() const;

private:
  explicit OptimizerFunction(mlir::func::FuncOp function) : function(function) {}
  mlir::LogicalResult read(mlir::func::FuncOp program, unsigned index);
  mlir::LogicalResult readArguments();
  mlir::LogicalResult readResults();
  llvm::SmallVector<mlir::Value> inlineBody(mlir::OpBuilder &builder, mlir::Location loc,
                                            const Operands &operands, bool asNumbers) const;
  mlir::Operation *cloneStep(mlir::OpBuilder &builder, mlir::Operation *step,
                             mlir::IRMapping &mapping, bool asNumbers) const;
  llvm::SmallVector<mlir::Value> apply(mlir::OpBuilder &builder, mlir::Location loc,
                                       const Operands &operands) const;

  mutable mlir::func::FuncOp function; ///< a handle
  unsigned parameter = 0, gradient = 0;
  std::optional<unsigned> lr, step;
  llvm::SmallVector<State> states;
  /// The returned value that replaces the parameter, then those that replace the states.
  llvm::SmallVector<unsigned> results;
  /// The dimensions of the parameter's stack.
  llvm::SmallVector<DimAttr> stack;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_OPTIMIZERFUNCTION_H
