// An optimizer as a function of tensors.
//
// An optimizer is a private function with the attribute `titan.optimizer`. All its floating-point
// values have one element type, in which the update is computed. Its arguments have roles:
// `titan.operand` is "parameter" or "gradient", `titan.scalar` "lr" or "step", `titan.state` the
// name of a state. Each result says by `titan.updates` which argument it replaces.
//
// The function may lack dimensions of the parameter: those over which a repeat stacks it, and those
// of a batch of matrices. Each element of this stack is updated by itself: in the inlined body,
// every value that depends on a stacked value also has the dimensions of the stack.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace titan::ir {

/// The optimizer of one parameter of a train program.
class OptimizerFunction {
public:
  /// The optimizer that `titan.updated_by` of argument `index` names. Fails with an error at
  /// `program` if it does not exist or its signature does not match the argument.
  static mlir::FailureOr<OptimizerFunction> get(mlir::func::FuncOp program, unsigned index);

  /// An optimizer state: its name, and the number of its argument in the function.
  struct State {
    mlir::StringAttr name;
    unsigned argument;
  };
  llvm::ArrayRef<State> getStates() const { return states; }
  /// The type of a state of the parameter, in the element type `element`.
  NamedTensorType getStateType(const State &state, mlir::Type element) const;

  /// The operands of an update: values of the program, of any floating-point element types.
  struct Operands {
    mlir::Value parameter, gradient, lr, step;
    /// Factor of the gradient; null: 1.
    mlir::Value scale;
    /// A scale of NaN leaves parameter and states unchanged.
    bool skipsNan = false;
    /// The largest magnitude of an element of the scaled gradient; 0: any.
    double clipValue = 0;
    llvm::SmallVector<mlir::Value> states;
  };
  /// Builds the update. Returns the new parameter and the new states, with the types of the
  /// operands. An elementwise function becomes one `titan.apply`; any other function is inlined.
  llvm::SmallVector<mlir::Value> build(mlir::OpBuilder &builder, mlir::Location loc,
                                       const Operands &operands) const;

  /// Whether the function computes each element of its results from the same element of its
  /// operands.
  bool isElementwise() const;

private:
  explicit OptimizerFunction(mlir::func::FuncOp function) : function(function) {}
  /// Reads the roles of arguments and results, and checks them against the parameter.
  mlir::LogicalResult read(mlir::func::FuncOp program, unsigned index);
  mlir::LogicalResult readArguments();
  mlir::LogicalResult checkArguments();
  mlir::LogicalResult readResults();
  /// Builds the update from clones of the body. `asNumbers`: without dimensions, in a scalar
  /// function.
  llvm::SmallVector<mlir::Value> inlineBody(mlir::OpBuilder &builder, mlir::Location loc,
                                            const Operands &operands, bool asNumbers) const;
  void cloneStep(mlir::OpBuilder &builder, mlir::Operation *step, mlir::IRMapping &mapping,
                 bool asNumbers) const;
  void cloneStacked(mlir::OpBuilder &builder, mlir::Operation *step,
                    mlir::IRMapping &mapping) const;
  bool isStacked(mlir::Value value) const;
  llvm::SmallVector<DimAttr> stackDims(llvm::ArrayRef<DimAttr> dims) const;
  llvm::SmallVector<mlir::Value> apply(mlir::OpBuilder &builder, mlir::Location loc,
                                       const Operands &operands) const;

  mutable mlir::func::FuncOp function; ///< mutable because accessors of operations are not const
  /// The numbers of these arguments.
  unsigned parameter = 0, gradient = 0;
  std::optional<unsigned> lr, step;
  llvm::SmallVector<State> states;
  /// The indices of the results that replace the parameter and the states.
  llvm::SmallVector<unsigned> results;
  /// The dimensions of the parameter in the program, and those of them that the function lacks.
  llvm::SmallVector<DimAttr> whole, stack;
};

} // namespace titan::ir
