// The pass --titan-verify-gradient-phase: verifies the properties that hold after the phase.

#include "dialects/titan/Differentiation/ParameterOrigin.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANVERIFYGRADIENTPHASE
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

/// (G1) One gradient per trained parameter.
static LogicalResult verifyGradients(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, attr::kParam);
    if (!name)
      continue;
    unsigned count = 0;
    for (unsigned r = 0; r < function.getNumResults(); ++r) {
      if (function.getResultAttr(r, attr::kGradient) != name ||
          function.getResultAttr(r, attr::kStage) != function.getArgAttr(i, attr::kStage))
        continue;
      ++count;
      NamedTensorType expected = getCotangentType(function.getArgument(i));
      if (function.getResultTypes()[r] != expected)
        return function.emitOpError("(G1) returns a gradient of ")
               << name << " of type " << function.getResultTypes()[r] << ", expected " << expected;
    }
    if (count != (isTrained(function, i) ? 1 : 0))
      return function.emitOpError("(G1) returns ") << count << " gradients of parameter " << name;
  }
  return success();
}

/// (G2) One update per trained parameter, buffer and state.
static LogicalResult verifyUpdates(func::FuncOp function) {
  return verifyUpdates(function, "G2", [&](unsigned i) {
    return isTrained(function, i) || function.getArgAttr(i, attr::kState) ||
           function.getArgAttr(i, attr::kBuffer);
  });
}

/// (G3) The outputs and scalars that the runtime uses in each step.
static LogicalResult verifyScalars(func::FuncOp function) {
  for (StringRef name : {"loss", "grad_norm"})
    if (!findResult(function, attr::kOutput, name))
      return function.emitOpError("(G3) has no result ") << attr::kOutput << " = \"" << name << '"';
  for (StringRef name : {"lr", "step"})
    if (!findArgument(function, attr::kScalar, name))
      return function.emitOpError("(G3) has no argument ")
             << attr::kScalar << " = \"" << name << '"';
  return success();
}

namespace {
struct VerifyGradientPhase : titan::ir::impl::TitanVerifyGradientPhaseBase<VerifyGradientPhase> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    func::FuncOp function = getOperation();
    if (isTrainProgram(function) &&
        (failed(verifyGradients(function)) || failed(verifyUpdates(function)) ||
         failed(verifyScalars(function))))
      return signalPassFailure();
    getOperation().walk([&](StopGradientOp op) {
      op.emitOpError("(G4) must not remain after the gradient phase");
      signalPassFailure();
    });
  }
};
} // namespace
