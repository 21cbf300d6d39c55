//===- Decompose.cpp - Replaces composites by their definitions -----------===//

#include "dialects/titan/Decomposition/Decomposition.h"
#include "dialects/titan/IR/TypeOf.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANDECOMPOSE
#define GEN_PASS_REGISTRATION
#include "dialects/titan/Decomposition/Passes.h.inc"
} // namespace titan::ir

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

struct Decompose : titan::ir::impl::TitanDecomposeBase<Decompose> {
  void runOnOperation() override {
    SmallVector<DecomposableOpInterface> composites;
    getOperation().walk([&](DecomposableOpInterface op) { composites.push_back(op); });
    for (DecomposableOpInterface op : composites) {
      if (isSharded(op)) {
        op->emitError("cannot be decomposed: it already has a sharding; decompose before the shard "
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

void ir::registerDecomposePass() {
  registerTitanDecompositionPasses();
}
