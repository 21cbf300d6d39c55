// The gradient phase.

#include "dialects/titan/Cost/Cost.h"
#include "dialects/titan/Support/Canonicalize.h"
#include "dialects/titan/Support/RunSettings.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace titan::ir;

namespace {
#define GEN_PASS_REGISTRATION
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace

/// The run's `recompute` settings as options.
static std::unique_ptr<Pass> createMarkRecomputed(const titan::RunSettings &settings) {
  std::vector<int64_t> layers = settings.getIntegers("recompute.layers");
  std::vector<std::string> save = settings.getStrings("recompute.save"),
                           blocks = settings.getStrings("recompute.blocks");
  TitanMarkRecomputedOptions options;
  options.all = settings.getString("recompute", "none") == "full";
  options.every = settings.getInteger("recompute.every", 0);
  options.layers = layers;
  options.save = save;
  options.blocks = blocks;
  return createTitanMarkRecomputed(options);
}

void titan::ir::buildGradientPhase(OpPassManager &manager, const RunSettings &settings) {
  // First: later passes choose by the contractions that a step executes.
  manager.addNestedPass<func::FuncOp>(createTitanDistributeContractions());
  // Before differentiation, so that the gradients are divided too.
  manager.addNestedPass<func::FuncOp>(createTitanDivideTables());
  // Early: differentiation reads the marks when it chooses residuals.
  manager.addNestedPass<func::FuncOp>(createMarkRecomputed(settings));
  // After the marks, because recomputed operations cost time.
  manager.addPass(createTitanBalanceStages());
  // After the marks, which count the layers of the whole model. Before differentiation, which
  // gives each stage its backward pass and its gradients.
  manager.addNestedPass<func::FuncOp>(createTitanSplitStages());
  // After the stages, because a turn may lack repeats but has the stages of the whole model. Before
  // differentiation, because each turn has its own gradients, chunks and accumulators.
  manager.addPass(createTitanSplitTurns());
  OpPassManager &each = manager.nest<func::FuncOp>();
  each.addPass(createTitanDifferentiate());
  // After differentiation, so that the gradient of the logits is in the same block. Before
  // accumulation, which would hide uses of whole values in a loop. Only tests set
  // `min_chunk_bytes`.
  each.addPass(createTitanChunkLoss(
      {settings.getInteger("min_chunk_bytes", TitanChunkLossOptions().minChunkBytes)}));
  // Before accumulation, so that the loop over microbatches contains both halves.
  each.addPass(createTitanSplitWgrad());
  // After differentiation, which returns the gradients to accumulate. Before the optimizer reads
  // the sums.
  each.addPass(createTitanAccumulate());
  // After accumulation: the optimizer reads complete gradients.
  manager.addPass(createTitanAddOptimizer());
  // Before the FLOPs are counted, because folded operations are not executed.
  manager.addPass(createCanonicalizePass());
  // Counts FLOPs of the whole step. The program is still global, so the count is independent of the
  // mesh.
  manager.addPass(createTitanCountFlops());
  manager.addNestedPass<func::FuncOp>(createTitanVerifyGradientPhase());
}

void titan::ir::registerGradientPasses() {
  registerTitanGradientPasses();
}
