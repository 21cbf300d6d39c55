// The model phase.

#include "dialects/titan/Cost/Cost.h"
#include "dialects/titan/Support/RunSettings.h"
#include "dialects/titan/Transforms/Model/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace titan::ir;

namespace {
#define GEN_PASS_REGISTRATION
#include "dialects/titan/Transforms/Model/Passes.h.inc"
} // namespace

void titan::ir::buildModelPhase(OpPassManager &manager, const RunSettings &settings) {
  // Before checks, which hide the range of an index.
  manager.addNestedPass<func::FuncOp>(createTitanFoldSelects());
  manager.addNestedPass<func::FuncOp>(createTitanCheckIndices());
  // After the checks of indices. Before the gradient phase: the gradient of a gathered matrix would
  // be a scatter of one matrix per row.
  manager.addNestedPass<func::FuncOp>(createTitanGroupContractions());
  // Programs of generation are copies of @logits with all changes above.
  TitanAddDecodeOptions decode;
  decode.slots = settings.getInteger("generate.batch", decode.slots);
  manager.addPass(createTitanAddDecode(decode));
  manager.addPass(createTitanSplitEvaluation());
  // After the split, which replaces outputs such as quotients by the sums that they consist of.
  manager.addPass(createTitanFindSampleSums());
  // Before the later phases add the backward pass and recomputation.
  manager.addPass(createTitanCountModelFlops());
  manager.addPass(createTitanVerifyModelPhase());
}

void titan::ir::registerModelPasses() {
  registerTitanModelPasses();
}
