//===- Pipeline.cpp - The memory phase ------------------------------------===//

#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace titan;

void memory::buildMemoryPhase(OpPassManager &passes) {
  // Yields and returns copy one value after the other; the plan relies on that order.
  passes.addPass(createSequentializeCopiesPass());
  passes.addPass(createPlanMemoryPass());
  passes.addPass(createVerifyMemoryPass());
}

void memory::registerMemoryPasses() {
  registerPass(createSequentializeCopiesPass);
  registerPass(createPlanMemoryPass);
  registerPass(createVerifyMemoryPass);
}
