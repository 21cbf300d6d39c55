//===- PlanMemory.cpp - The pass --titan-plan-memory ----------------------===//

#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/Planner.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace titan;

namespace {

/// Assigns an allocation to every value and a live range to every allocation. Input:
///   %a = titan.exp %x : ...
///   %b = titan.neg %a : ...
/// Output: `%a` and `%b` share an allocation, because `%b` is the last use of `%a`:
///   %a = titan.exp %x {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : ...
///   %b = titan.neg %a {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : ...
/// The pass chooses no offsets: with `auto` degrees, sizes are known only at launch.
struct PlanMemoryPass : PassWrapper<PlanMemoryPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanMemoryPass)

  StringRef getArgument() const final { return "titan-plan-memory"; }
  StringRef getDescription() const final {
    return "Give every value an allocation with a live range";
  }

  void runOnOperation() final {
    const memory::BlockStorage storage(getOperation());
    memory::PersistentTable persistent(storage);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(ir::attr::kProgram) &&
          failed(memory::Planner(function, persistent).run()))
        return signalPassFailure();
    getOperation()->setAttr(memory::kPersistent, persistent.toAttribute(&getContext()));
  }
};

} // namespace

std::unique_ptr<Pass> memory::createPlanMemoryPass() {
  return std::make_unique<PlanMemoryPass>();
}
