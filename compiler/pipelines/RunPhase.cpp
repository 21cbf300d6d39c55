#include "compiler/pipelines/RunPhase.h"
#include "compiler/pipelines/Phases.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Titan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::pipelines {
#define GEN_PASS_DEF_TITANRUNPHASE
#include "compiler/pipelines/Passes.h.inc"
} // namespace titan::pipelines

using namespace mlir;
using namespace titan;

namespace {

struct RunPhase : pipelines::impl::TitanRunPhaseBase<RunPhase> {
  using TitanRunPhaseBase::TitanRunPhaseBase;

  void runOnOperation() override {
    const std::string &name = phase;
    const pipelines::Phase *wanted = pipelines::findPhase(name);
    if (!wanted) {
      getOperation().emitError("there is no phase `") << name << "`";
      return signalPassFailure();
    }
    OpPassManager manager(ModuleOp::getOperationName());
    wanted->build(manager, RunSettings(getOperation()));
    if (failed(runPipeline(manager, getOperation())))
      signalPassFailure();
  }
};

} // namespace
