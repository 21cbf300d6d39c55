// Patterns on one kind of operation.
#pragma once

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace titan::ir {

/// Applies `patterns` and folders to the operations `ops`, in their order, until none applies.
/// Operations that patterns create are not rewritten.
inline void rewriteEach(llvm::ArrayRef<mlir::Operation *> ops, mlir::RewritePatternSet &&patterns) {
  if (ops.empty())
    return;
  mlir::GreedyRewriteConfig config;
  config.strictMode = mlir::GreedyRewriteStrictness::ExistingOps;
  // The driver starts with the last operation.
  llvm::SmallVector<mlir::Operation *> last(llvm::reverse(ops));
  // Whether the driver reaches a fixpoint does not matter: each step keeps the meaning.
  (void)mlir::applyOpPatternsAndFold(last, std::move(patterns), config);
}

/// The same on all operations of the kind `Op` within `root`.
template <typename Op> void rewriteEach(mlir::Operation *root, mlir::RewritePatternSet &&patterns) {
  llvm::SmallVector<mlir::Operation *> ops;
  root->walk([&](Op op) { ops.push_back(op); });
  rewriteEach(ops, std::move(patterns));
}

} // namespace titan::ir
