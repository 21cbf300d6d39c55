// The pass --dist-print-collectives.

#include "dialects/dist/Analysis/CollectiveReport.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTPRINTCOLLECTIVES
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace titan;
using namespace titan::dist;

namespace {
struct PrintCollectives : titan::dist::impl::DistPrintCollectivesBase<PrintCollectives> {
  using DistPrintCollectivesBase::DistPrintCollectivesBase;

  void runOnOperation() override {
    Degrees degrees = getDegrees(MeshOp::lookup(getOperation()), autoDegree);
    for (auto function : getOperation().getOps<mlir::func::FuncOp>()) {
      llvm::outs() << '@' << function.getName() << '\n';
      printCollectives(llvm::outs(), reportCollectives(function, degrees));
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
