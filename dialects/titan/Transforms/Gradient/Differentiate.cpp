// The pass --titan-differentiate: adds the gradient of the loss with respect to every trained
// parameter.

#include "dialects/titan/Differentiation/ParameterOrigin.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Gradient/CleanUp.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "dialects/titan/Transforms/Gradient/ReverseSweep.h"
#include "dialects/titan/Transforms/Gradient/UnusedIterArgs.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANDIFFERENTIATE
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

/// The loss that `function` returns. Null, with a diagnostic, if the function has no valid loss.
static Value findLoss(func::FuncOp function) {
  std::optional<unsigned> index = findResult(function, attr::kOutput, "loss");
  if (!index) {
    function.emitOpError("has no result with titan.output = \"loss\" to differentiate");
    return {};
  }
  Value loss = function.getBody().front().getTerminator()->getOperand(*index);
  auto type = dyn_cast<NamedTensorType>(loss.getType());
  if (!type || type.getRank() != 0 || !isa<FloatType>(type.getElementType())) {
    InFlightDiagnostic error = function.emitOpError("has a loss of type ")
                               << loss.getType()
                               << "; expected a floating-point tensor without dimensions";
    error.attachNote(loss.getLoc()) << "the loss";
    return {};
  }
  return loss;
}

/// The gradient of a parameter that does not influence the loss. Emits a warning.
static Value buildZeroGradient(func::FuncOp function, BlockArgument parameter, OpBuilder &builder) {
  auto name = function.getArgAttrOfType<StringAttr>(parameter.getArgNumber(), attr::kParam);
  emitWarning(parameter.getLoc()) << "parameter " << name
                                  << " does not reach the loss; its gradient is zero";
  Location loc = getGradientLoc(parameter.getLoc(), parameter);
  return TensorBuilder(builder, loc).zeros(getCotangentType(parameter));
}

static ReturnedValue getReturnedGradient(func::FuncOp function, BlockArgument parameter,
                                         Value gradient) {
  unsigned index = parameter.getArgNumber();
  Builder builder(function.getContext());
  SmallVector<NamedAttribute> attributes{
      builder.getNamedAttr(attr::kGradient, function.getArgAttr(index, attr::kParam))};
  llvm::append_range(attributes, getSlotAttributes(function, index));
  return {gradient, attributes};
}

static LogicalResult differentiate(func::FuncOp function) {
  Value loss = findLoss(function);
  if (!loss)
    return failure();
  Block &body = function.getBody().front();
  OpBuilder builder(body.getTerminator());
  Activity activity(function);
  ReverseSweep sweep(builder, activity);
  TensorBuilder seed(builder, getGradientLoc(loss.getLoc(), loss));
  sweep.accumulate(loss, seed.constant(1, loss));
  if (failed(sweep.run(body)))
    return failure();
  std::vector<ReturnedValue> gradients;
  for (BlockArgument parameter : function.getArguments()) {
    if (!isTrained(function, parameter.getArgNumber()))
      continue;
    Value gradient = sweep.lookup(parameter);
    if (!gradient)
      gradient = buildZeroGradient(function, parameter, builder);
    gradients.push_back(getReturnedGradient(function, parameter, gradient));
  }
  appendResults(function, gradients);
  return success();
}

/// Removes the attributes and operations that only differentiation reads.
static void removeMarks(func::FuncOp function) {
  function.walk([](Operation *op) { op->removeAttr(attr::kRecompute); });
  function.walk([](StopGradientOp op) {
    op.getResult().replaceAllUsesWith(op.getInput());
    op.erase();
  });
}

namespace {
struct Differentiate : titan::ir::impl::TitanDifferentiateBase<Differentiate> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!isTrainProgram(function))
      return removeMarks(function);
    // Values that reach no result need no residuals, and no stage of a pipeline passes them on.
    dropUnusedIterArgs(function.getBody());
    // Merge equal values before they get separate cotangents and residuals.
    cleanUp(function);
    if (failed(differentiate(function)))
      return signalPassFailure();
    removeMarks(function);
    cleanUp(function);
  }
};
} // namespace
