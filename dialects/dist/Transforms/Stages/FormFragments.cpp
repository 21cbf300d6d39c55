// The pass --dist-form-fragments.

#include "dialects/dist/Transforms/Stages/FragmentBuilder.h"
#include "dialects/dist/Transforms/Stages/Passes.h"
#include "dialects/dist/Transforms/Stages/SplitAccumulators.h"
#include "dialects/titan/Support/PassReport.h"

#include <deque>
#include <map>

namespace titan::dist {
#define GEN_PASS_DEF_DISTFORMFRAGMENTS
#include "dialects/dist/Transforms/Stages/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;

/// Replaces the program by a declaration that lists its fragments.
static void declare(func::FuncOp program, ArrayRef<func::FuncOp> fragments) {
  OpBuilder builder(program);
  SmallVector<Attribute> symbols;
  for (func::FuncOp fragment : fragments)
    symbols.push_back(FlatSymbolRefAttr::get(fragment));
  program.getBody().dropAllReferences();
  program.getBody().getBlocks().clear();
  program.setPrivate();
  program->removeAttr(ir::attr::kProgram);
  program->setAttr(kFragmentsAttr, builder.getArrayAttr(symbols));
}

/// Each stored tensor is read by fragments of one stage, in all programs: others receive copies.
static LogicalResult verifyHomes(ModuleOp module) {
  std::map<std::tuple<StringRef, StringRef, int64_t>, int64_t> homes;
  for (auto function : module.getOps<func::FuncOp>()) {
    auto fragment = function->getAttrOfType<FragmentAttr>(kFragmentAttr);
    for (unsigned i = 0; fragment && i < function.getNumArguments(); ++i)
      for (StringRef role : {ir::attr::kParam, ir::attr::kState, ir::attr::kCache}) {
        auto name = function.getArgAttrOfType<StringAttr>(i, role);
        if (!name)
          continue;
        auto stage = function.getArgAttrOfType<IntegerAttr>(i, ir::attr::kStage);
        auto [home, isNew] = homes.try_emplace({role, name.getValue(), stage ? stage.getInt() : -1},
                                               fragment.getStage());
        if (home->second != fragment.getStage())
          return function.emitError("reads ") << name << " on stage " << fragment.getStage()
                                              << ", but stage " << home->second << " stores it";
      }
  }
  return success();
}

/// Rejects turns without a layer of the pipeline: such a turn has no stages, but the ranks of a
/// stage store its parameters.
static LogicalResult verifyTurns(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (PipelineOp::lookup(module) && function->hasAttr(ir::attr::kTurn) && !hasStages(function))
      return function.emitError("is a turn of @train, but has no layer of the pipeline");
  return success();
}

namespace {
struct FormFragments : titan::dist::impl::DistFormFragmentsBase<FormFragments> {
  void runOnOperation() override {
    if (failed(verifyTurns(getOperation())))
      return signalPassFailure();
    SmallVector<func::FuncOp> programs(getOperation().getOps<func::FuncOp>());
    llvm::erase_if(programs, [](func::FuncOp function) { return !hasStages(function); });
    std::deque<FragmentPlan> plans;
    Homes homes;
    for (func::FuncOp program : programs) {
      splitAccumulators(program);
      plans.emplace_back(program, findMicrobatchLoop(program)).collectHomes(homes);
    }
    for (auto [program, plan] : llvm::zip_equal(programs, plans)) {
      plan.assignUpdates(homes);
      FragmentBuilder fragmentBuilder(program, plan.getLoop(), plan);
      if (failed(fragmentBuilder.run()))
        return signalPassFailure();
      SmallVector<func::FuncOp> formed = fragmentBuilder.getFragments();
      declare(program, formed);
      TITAN_COUNT(fragments, formed.size());
      TITAN_COUNT(stashedValues, fragmentBuilder.getNumStashed());
      TITAN_COUNT(stepValues, fragmentBuilder.getNumStepValues());
    }
    if (failed(verifyHomes(getOperation())))
      signalPassFailure();
  }
};
} // namespace
