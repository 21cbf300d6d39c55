// The pass --dist-print-conflicts.

#include "dialects/dist/Transforms/Shard/ConflictReport.h"
#include "dialects/dist/Transforms/Shard/Passes.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTPRINTCONFLICTS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;

namespace {
struct PrintConflicts : titan::dist::impl::DistPrintConflictsBase<PrintConflicts> {
  void runOnOperation() override {
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    auto print = [](func::FuncOp function, const MeshView &mesh) -> LogicalResult {
      FailureOr<std::vector<ConflictUse>> uses = reportConflicts(function, mesh);
      if (failed(uses))
        return failure();
      llvm::outs() << '@' << function.getName() << '\n';
      for (const ConflictUse &use : *uses)
        llvm::outs() << use.print() << '\n';
      return success();
    };
    if (failed(forEachFunction(*copy, print)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
