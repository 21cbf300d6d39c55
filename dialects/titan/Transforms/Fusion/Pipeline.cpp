// The fuse phase.

#include "dialects/titan/Transforms/Fusion/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace titan;

namespace titan::fusion {
#define GEN_PASS_REGISTRATION
#include "dialects/titan/Transforms/Fusion/Passes.h.inc"
} // namespace titan::fusion

void fusion::buildFusePhase(OpPassManager &passes, const RunSettings & /*settings*/) {
  OpPassManager &each = passes.nest<func::FuncOp>();
  // Before products accumulate into what they are added to, which may be a slot then.
  each.addPass(createTitanAddInRepeats());
  each.addPass(createTitanAddInto());
  each.addPass(createTitanRecomputeValues());
  // Two loops over one long row would not fit into one region.
  each.addPass(createTitanRecomputeRows());
  each.addPass(createTitanFuseRows());
}

void fusion::registerFusionPasses() {
  registerTitanFusionPasses();
}
