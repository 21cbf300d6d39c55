// Checks of every operation.
//
// Each check takes one case, prints an error if it fails, and returns whether it passed.
#pragma once

#include "tests/ops/Draw.h"
#include "llvm/Support/JSON.h"

namespace titan::ops {

/// The numbers of cases and of comparisons.
struct Counts {
  unsigned cases = 0, gradients = 0, decompositions = 0, shardings = 0, paddings = 0;
};

/// Compares the gradient of a weighted sum of the results with finite differences, along a random
/// direction per operand.
bool checkGradient(mlir::MLIRContext *context, const Case &c, Draw &draw, Counts &counts);

/// Compares results and gradients of a composite with those of its decomposition, to 1e-12.
bool checkDecomposition(mlir::MLIRContext *context, const Case &c, Draw &draw, Counts &counts);

/// A deliberate error in a rule, which the check must detect. Linear: every operand alone may be a
/// partial sum. Split: factors that must stay whole may be sharded.
enum class Break { Nothing, Linear, Split };

/// For every sharding that the rule allows on a mesh of this shape: the verifier accepts it, and
/// the ranks compute the results of one rank, to 1e-12.
bool checkShardings(mlir::MLIRContext *context, const Case &c, llvm::ArrayRef<int64_t> shape,
                    Break broken, Counts &counts);

/// For dimensions that the mesh axes pad, singly and all at once: after the shard phase the ranks
/// compute the results of one rank, also if the padding is not zero.
bool checkPadding(mlir::MLIRContext *context, const Case &c, Counts &counts);

/// The case with results, loss weights and gradients as JSON, for the comparison with PyTorch.
std::optional<llvm::json::Value> describe(mlir::MLIRContext *context, const Case &c, Draw &draw);

} // namespace titan::ops
