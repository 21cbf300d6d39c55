// Replaces composites by their definitions.

#include "dialects/titan/Decomposition/Decomposition.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/RewriteEach.h"

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

LogicalResult checkUnsharded(Operation *op) {
  if (!isSharded(op))
    return success();
  return op->emitError(
      "cannot be decomposed: it already has a sharding; decompose before the shard phase");
}

struct DecomposeComposite : OpInterfaceRewritePattern<DecomposableOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(DecomposableOpInterface op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.decompose(rewriter));
    return success();
  }
};

struct Decompose : titan::ir::impl::TitanDecomposeBase<Decompose> {
  void runOnOperation() override {
    WalkResult check = getOperation().walk(
        [](DecomposableOpInterface op) -> WalkResult { return checkUnsharded(op); });
    if (check.wasInterrupted())
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposeComposite>(&getContext());
    rewriteEach<DecomposableOpInterface>(getOperation(), std::move(patterns));
  }
};

} // namespace

void ir::registerDecompositions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TitanDialect *) {
    attachAttentionDecomposition(*context);
    attachRotaryDecomposition(*context);
    attachGroupedDecomposition(*context);
  });
}

void ir::registerDecomposePass() {
  registerTitanDecompositionPasses();
}
