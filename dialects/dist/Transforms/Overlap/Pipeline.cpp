//===- Pipeline.cpp - The overlap phase, pass by pass ---------------------===//

#include "dialects/dist/Transforms/Overlap/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace titan;

bool dist::wantsOverlap(ModuleOp module) {
  auto run = module->getAttrOfType<DictionaryAttr>(ir::attr::kRun);
  auto setting = run ? run.getAs<DictionaryAttr>("sharding.overlap") : DictionaryAttr();
  auto value = setting ? setting.getAs<StringAttr>("value") : StringAttr();
  return !value || value != "never";
}

int64_t dist::getFreeChannel(Operation *operation) {
  int64_t channel = 0;
  operation->walk([&](Operation *op) {
    if (std::optional<int64_t> used = getStartChannel(op))
      channel = std::max(channel, *used + 1);
  });
  return channel;
}

void dist::buildOverlapPhase(OpPassManager &passes) {
  // Prefetching is first, because the second pass only sees uses within one block.
  passes.addPass(createDistPrefetchGathers());
  passes.addPass(createDistSplitCollectives());
  passes.addPass(createDistVerifyOverlap());
}

void dist::registerOverlapPhase() {
  registerDistOverlapPasses();
}
