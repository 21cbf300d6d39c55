// The loss of a case.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tests/ops/Draw.h"

namespace titan::ops {

/// One weight tensor per result in the loss.
struct Weights {
  std::vector<Tensor> tensors;
  llvm::SmallVector<const Tensor *> byResult; ///< null: not in the loss

  Weights(const Case &c, Draw &draw) {
    tensors.reserve(c.results.size());
    for (auto [i, type] : llvm::enumerate(c.results)) {
      bool counts = isReal(type) && !llvm::is_contained(c.withoutGradient, i);
      if (counts)
        tensors.push_back(draw.real(type.getDims()));
      byResult.push_back(counts ? &tensors.back() : nullptr);
    }
  }
};

/// Differentiates a train program of the case, if that can be differentiated, in double precision
/// and after the pass `first`. Null if that fails.
mlir::OwningOpRef<mlir::ModuleOp> differentiate(mlir::MLIRContext *context, const Case &c,
                                                const Weights &weights,
                                                std::unique_ptr<mlir::Pass> first = nullptr);

} // namespace titan::ops
