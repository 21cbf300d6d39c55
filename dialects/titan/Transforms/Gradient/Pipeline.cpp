//===- Pipeline.cpp - The gradient phase ----------------------------------===//

#include "dialects/titan/Cost/Cost.h"
#include "dialects/titan/Support/Canonicalize.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace titan::ir;

namespace {
#define GEN_PASS_REGISTRATION
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace

void titan::ir::buildGradientPhase(OpPassManager &manager) {
  // First: differentiation reads the marks when it chooses residuals.
  manager.addPass(createTitanMarkRecomputed());
  manager.addPass(createTitanDifferentiate());
  // After differentiation, so that the gradient of the logits is in the same block. Before
  // accumulation, which would hide uses of whole values in a loop.
  manager.addPass(createTitanChunkLoss());
  // After differentiation, which returns the gradients to accumulate. Before the optimizer reads
  // the sums.
  manager.addPass(createTitanAccumulate());
  // After accumulation: the optimizer reads complete gradients.
  manager.addPass(createTitanAddOptimizer());
  // Before the FLOPs are counted: what folds is not executed.
  manager.addPass(createCanonicalizePass());
  // Counts FLOPs of the whole step. The program is still global, so the count is independent of the
  // mesh.
  manager.addPass(createCountFlopsPass());
  manager.addPass(createTitanVerifyGradientPhase());
}

void titan::ir::registerGradientPasses() {
  registerTitanGradientPasses();
}
