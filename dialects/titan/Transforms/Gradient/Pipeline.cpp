//===- Pipeline.cpp - The gradient phase ----------------------------------===//

#include "dialects/titan/Cost/Cost.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace titan::ir;

namespace {
#define GEN_PASS_REGISTRATION
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace

void titan::ir::buildGradientPhase(OpPassManager &manager) {
  // The gradient's residuals go by the marks.
  manager.addPass(createTitanMarkRecomputed());
  manager.addPass(createTitanDifferentiate());
  // The gradient of the logits stands beside them now, and nothing yet hides what needs them whole.
  manager.addPass(createTitanChunkLoss());
  // The gradients of all parts are there to be summed, and nothing yet reads the sums.
  manager.addPass(createTitanAccumulate());
  // The optimizer reads the gradients where they are results, so it stands behind.
  manager.addPass(createTitanAddOptimizer());
  // The whole step stands here and is still global, so the figure does not depend on a mesh.
  manager.addPass(createCountFlopsPass());
  manager.addPass(createTitanVerifyGradientPhase());
}

void titan::ir::registerGradientPasses() {
  registerTitanGradientPasses();
}
