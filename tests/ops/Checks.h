//===- Checks.h - What is asked of every operation --------------*- C++ -*-===//
//
// Each check takes one case, prints what is wrong with it and returns whether it passed.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_TESTS_OPS_CHECKS_H
#define TITAN_TESTS_OPS_CHECKS_H

#include "tests/ops/Draw.h"
#include "llvm/Support/JSON.h"

namespace titan::ops {

/// How many comparisons the checks made.
struct Counts {
  unsigned cases = 0, gradients = 0, decompositions = 0, shardings = 0, paddings = 0;
};

/// The gradient of a weighed sum of the results along a random direction of every operand is the
/// slope that differences give.
bool checkGradient(mlir::MLIRContext *context, const Case &c, Draw &draw, Counts &counts);

/// A composite and the simpler operations that define it have the same results and gradients, to
/// 1e-12.
bool checkDecomposition(mlir::MLIRContext *context, const Case &c, Draw &draw, Counts &counts);

/// How a rule is made wrong, to see that it is noticed: every operand may be a partial sum by
/// itself; what must not be split may be.
enum class Break { Nothing, Linear, Split };

/// On a mesh of this shape, for every sharding that the rule allows: the verifier accepts it, and
/// the ranks together compute what one rank computes, to 1e-12.
bool checkShardings(mlir::MLIRContext *context, const Case &c, llvm::ArrayRef<int64_t> shape,
                    Break broken, Counts &counts);

/// With dimensions that the axes of a mesh pad, each alone and all at once: after the shard phase
/// the ranks together compute what one rank computes, also where padding holds something.
bool checkPadding(mlir::MLIRContext *context, const Case &c, Counts &counts);

/// The case with its results, the weights of its loss and the gradients, for PyTorch to judge.
std::optional<llvm::json::Value> describe(mlir::MLIRContext *context, const Case &c, Draw &draw);

} // namespace titan::ops

#endif // TITAN_TESTS_OPS_CHECKS_H
