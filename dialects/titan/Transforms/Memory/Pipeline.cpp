// The memory phase.

#include "dialects/titan/Support/RunSettings.h"
#include "dialects/titan/Transforms/Memory/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace titan;

namespace titan::memory {
#define GEN_PASS_REGISTRATION
#include "dialects/titan/Transforms/Memory/Passes.h.inc"
} // namespace titan::memory

void memory::buildMemoryPhase(OpPassManager &passes, const RunSettings &settings) {
  // Yields and returns copy one value after the other; the plan relies on that order.
  passes.addNestedPass<func::FuncOp>(createTitanSequentializeCopies());
  const std::vector<std::string> offload = settings.getStrings("offload");
  TitanPlanMemoryOptions options;
  options.offload = offload;
  passes.addPass(createTitanPlanMemory(options));
  passes.addPass(createTitanVerifyMemory());
}

void memory::registerMemoryPasses() {
  registerTitanMemoryPasses();
}
