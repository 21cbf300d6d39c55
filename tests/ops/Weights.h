// The loss with which the tests differentiate an operation: a weighted sum of its results, with
// random weights.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tests/ops/Draw.h"

namespace titan::ops {

/// The weights of the loss: one tensor per result that the loss contains.
struct Weights {
  std::vector<Tensor> tensors;
  llvm::SmallVector<const Tensor *> byResult; ///< null: the loss does not contain the result

  Weights(const Case &c, Draw &draw) {
    tensors.reserve(c.results.size());
    for (auto [i, type] : llvm::enumerate(c.results)) {
      bool isInLoss = isReal(type) && !llvm::is_contained(c.withoutGradient, i);
      if (isInLoss)
        tensors.push_back(draw.real(type.getDims()));
      byResult.push_back(isInLoss ? &tensors.back() : nullptr);
    }
  }
};

/// Builds a train program of the case in double precision, runs the pass `first`, if any, and
/// differentiates the program if the case is differentiable. Null if a pass fails.
mlir::OwningOpRef<mlir::ModuleOp> differentiate(mlir::MLIRContext *context, const Case &c,
                                                const Weights &weights,
                                                std::unique_ptr<mlir::Pass> first = nullptr);

} // namespace titan::ops
