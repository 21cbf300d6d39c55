// The pass --titan-plan-memory: assigns an allocation with a live range to every value.

#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/Passes.h"
#include "dialects/titan/Transforms/Memory/Planner.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::memory {
#define GEN_PASS_DEF_TITANPLANMEMORY
#include "dialects/titan/Transforms/Memory/Passes.h.inc"
} // namespace titan::memory

using namespace mlir;
using namespace titan;

namespace {

struct PlanMemory : titan::memory::impl::TitanPlanMemoryBase<PlanMemory> {
  using TitanPlanMemoryBase::TitanPlanMemoryBase;

  void runOnOperation() override {
    const memory::BlockStorage storage(getOperation());
    SmallVector<StringRef> offloadedRoles;
    if (llvm::is_contained(offload, "optimizer"))
      offloadedRoles.push_back(ir::attr::kState);
    if (llvm::is_contained(offload, "params"))
      offloadedRoles.push_back(ir::attr::kParam);
    memory::PersistentTable persistent(storage, offloadedRoles);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(ir::attr::kProgram))
        continue;
      memory::Planner planner(function, persistent);
      if (failed(planner.run()))
        return signalPassFailure();
      TITAN_COUNT(allocations, planner.getNumAllocations());
      TITAN_COUNT(sharedAllocations, planner.getNumShared());
    }
    getOperation()->setAttr(memory::kPersistent, persistent.toAttribute(&getContext()));
  }
};

} // namespace
