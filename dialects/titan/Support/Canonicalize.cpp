// Folding and canonicalization.

#include "dialects/titan/Support/Canonicalize.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static GreedyRewriteConfig getConfig() {
  GreedyRewriteConfig config;
  config.useTopDownTraversal = true;
  config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
  return config;
}

void titan::ir::canonicalize(Operation *op) {
  MLIRContext *context = op->getContext();
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    name.getCanonicalizationPatterns(patterns, context);
  // Whether the driver reaches a fixpoint does not matter: each step keeps the meaning.
  (void)applyPatternsAndFoldGreedily(op, std::move(patterns), getConfig());
}

std::unique_ptr<Pass> titan::ir::createCanonicalizePass() {
  return createCanonicalizerPass(getConfig());
}
