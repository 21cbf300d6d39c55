//===- Decompose.cpp - Replaces composites by their definitions -----------===//

#include "dialects/titan/Decomposition/Decomposition.h"
#include "dialects/titan/IR/TypeOf.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Definitions create dimensions without a sharding, so they apply to unsharded tensors only.
bool isSharded(Operation *op) {
  return llvm::any_of(op->getResults(), [](Value result) {
    auto type = dyn_cast<NamedTensorType>(result.getType());
    return type && type.getSharding();
  });
}

struct DecomposePass : PassWrapper<DecomposePass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DecomposePass)
  StringRef getArgument() const final { return "titan-decompose"; }
  StringRef getDescription() const final {
    return "replaces composites by the simpler operations that define them";
  }

  void runOnOperation() override {
    SmallVector<DecomposableOpInterface> composites;
    getOperation()->walk([&](DecomposableOpInterface op) { composites.push_back(op); });
    for (DecomposableOpInterface op : composites) {
      if (isSharded(op)) {
        op->emitError("cannot be decomposed: it lies on a mesh already; decompose before the shard "
                      "phase");
        return signalPassFailure();
      }
      OpBuilder builder(op);
      op->replaceAllUsesWith(op.decompose(builder));
      op->erase();
    }
  }
};

} // namespace

void ir::registerDecompositions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TitanDialect *) {
    attachAttentionDecomposition(*context);
    attachRotaryDecomposition(*context);
  });
}

std::unique_ptr<Pass> ir::createDecomposePass() {
  return std::make_unique<DecomposePass>();
}

void ir::registerDecomposePass() {
  PassRegistration<DecomposePass>();
}
