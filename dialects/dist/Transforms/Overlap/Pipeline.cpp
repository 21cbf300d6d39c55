// The overlap phase, pass by pass.

#include "dialects/dist/Transforms/Overlap/Passes.h"
#include "dialects/titan/Support/RunSettings.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace titan;

int64_t dist::getFreeChannel(Operation *operation) {
  int64_t channel = 0;
  operation->walk([&](Operation *op) {
    if (std::optional<int64_t> used = getStartChannel(op))
      channel = std::max(channel, *used + 1);
  });
  return channel;
}

void dist::buildOverlapPhase(OpPassManager &passes, const RunSettings &settings) {
  Overlap overlap = settings.getString("sharding.overlap", "always") == "never" ? Overlap::Never
                                                                                : Overlap::Always;
  OpPassManager &each = passes.nest<func::FuncOp>();
  const std::vector<std::string> offload = settings.getStrings("offload");
  DistFetchOffloadedOptions fetch;
  fetch.offload = offload;
  each.addPass(createDistFetchOffloaded(fetch));
  // Prefetching is next, because the second pass only sees uses within one block.
  each.addPass(createDistPrefetchGathers({overlap, settings.getInteger("sharding.prefetch", 1)}));
  each.addPass(createDistSplitCollectives({overlap}));
  each.addPass(createDistVerifyOverlap());
  each.addPass(createDistVerifyMessages());
}

void dist::registerOverlapPhase() {
  registerDistOverlapPasses();
}
