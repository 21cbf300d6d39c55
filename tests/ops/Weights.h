//===- Weights.h - The loss of a case ---------------------------*- C++ -*-===//

#ifndef TITAN_TESTS_OPS_WEIGHTS_H
#define TITAN_TESTS_OPS_WEIGHTS_H

#include "tests/ops/Draw.h"

namespace titan::ops {

/// A tensor of weights for every result that the loss of a case contains.
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

} // namespace titan::ops

#endif // TITAN_TESTS_OPS_WEIGHTS_H
