//===- LoopDistribution.h - A repeat parted where sums are complete ---*- C++ -*-===//
//
// A running mean over the batch is a sum over the batch and a little arithmetic with it. Where the
// layers of a repeat have one each and a step is computed in parts, the sums belong to the parts
// and the arithmetic behind them. So the repeat is parted: it stacks the sums, and a repeat of the
// same iterations behind it, the tail, computes the rest from the stacks.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_LOOPDISTRIBUTION_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_LOOPDISTRIBUTION_H

#include "dialects/titan/Transforms/Gradient/BatchDependence.h"

namespace titan::ir {

/// Replaces `repeat` by one that stacks besides, for each pair, a value of the body of a variant.
/// Their stacks come last among the results. `replaces` hears of each result that was there before,
/// and of the one that its users get.
RepeatOp
appendStackedOutputs(RepeatOp repeat,
                     llvm::ArrayRef<std::pair<mlir::Value, unsigned>> valuesOfVariants,
                     llvm::function_ref<void(mlir::Value, mlir::Value)> replaces = nullptr);

/// Moves what the bodies of `repeat` compute from complete sums (Dependence::AfterAccumulation)
/// into a tail. What is carried must not depend on complete sums. Fails, with an error, where the
/// tail would need a carried value that is no sum. Leaves dead operations and stacks to cleanUp().
mlir::LogicalResult distributeRepeat(RepeatOp repeat, const BatchDependence &dependence);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_LOOPDISTRIBUTION_H
