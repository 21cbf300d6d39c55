// The pass --dist-propagate.

#include "dialects/dist/Transforms/Shard/ConflictReport.h"
#include "dialects/dist/Transforms/Shard/PartitionGraph.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/Support/PassReport.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTPROPAGATE
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;

/// Each operation with the shardings of its results.
static void printShardings(func::FuncOp function) {
  function.walk([](Operation *op) {
    for (Value result : op->getResults())
      llvm::errs() << op->getName() << ' ' << getSharding(result) << '\n';
  });
}

namespace {

struct Propagate : titan::dist::impl::DistPropagateBase<Propagate> {
  void runOnOperation() override {
    auto propagate = [](func::FuncOp function, const MeshView &mesh) -> LogicalResult {
      copyTables(function);
      PartitionGraph graph(mesh);
      if (failed(graph.addBlock(function.getBody().front())))
        return failure();
      graph.propagate();
      warnOfUndecided(graph);
      graph.setShardings();
      TITAN_DEBUG("dist-propagate", printShardings(function));
      return success();
    };
    if (failed(visitWithMesh(getOperation(), propagate)))
      signalPassFailure();
  }
};

} // namespace
