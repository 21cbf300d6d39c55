#include "compiler/pipelines/RunPhase.h"
#include "compiler/pipelines/PhaseSteps.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Titan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"

namespace titan::pipelines {
#define GEN_PASS_DEF_TITANRUNPHASE
#include "compiler/pipelines/Passes.h.inc"
} // namespace titan::pipelines

using namespace mlir;
using namespace titan;

namespace {

struct RunPhase : pipelines::impl::TitanRunPhaseBase<RunPhase> {
  using TitanRunPhaseBase::TitanRunPhaseBase;

  /// Pipelines that a pass builds cannot load dialects, so that this pass names those of all
  /// insertions.
  void getDependentDialects(DialectRegistry &registry) const override {
    TitanRunPhaseBase::getDependentDialects(registry);
    for (const pipelines::Insertion &insertion : insertions)
      for (StringRef parent : {ModuleOp::getOperationName(), func::FuncOp::getOperationName()})
        if (OpPassManager manager(parent);
            succeeded(parsePassPipeline(insertion.pass, manager, llvm::nulls())))
          manager.getDependentDialects(registry);
  }

  void runOnOperation() override {
    const std::string &name = phase;
    const pipelines::Phase *wanted = pipelines::findPhase(name);
    if (!wanted) {
      getOperation().emitError("there is no phase `") << name << "`";
      return signalPassFailure();
    }
    const RunSettings settings(getOperation());
    for (const pipelines::PhaseStep &step : pipelines::makeSteps(*wanted, settings, insertions)) {
      OpPassManager manager(ModuleOp::getOperationName());
      if (failed(step.build(manager)) || failed(runPipeline(manager, getOperation())))
        return signalPassFailure();
      pipelines::recordInsertions(getOperation(), step.inserted);
    }
    pipelines::recordPhase(getOperation(), *wanted);
  }

  std::vector<pipelines::Insertion> insertions;
};

} // namespace

std::unique_ptr<Pass> pipelines::createRunPhase(llvm::StringRef phase,
                                                llvm::ArrayRef<Insertion> insertions) {
  auto pass = std::make_unique<RunPhase>(TitanRunPhaseOptions{phase.str()});
  pass->insertions = insertions.vec();
  return pass;
}
