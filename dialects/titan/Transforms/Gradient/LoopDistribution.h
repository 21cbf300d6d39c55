//===- LoopDistribution.h - Loop distribution of a repeat -------*- C++ -*-===//
//
// A running mean over the batch consists of a sum over the batch and arithmetic on that sum. With
// microbatches the sum belongs into the loop and the arithmetic after it. If a repeat over layers
// computes both, it becomes two repeats over the same iterations (Allen and Kennedy): the first
// stacks the sums, the second scans them and computes the rest.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_LOOPDISTRIBUTION_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_LOOPDISTRIBUTION_H

#include "dialects/titan/Transforms/Gradient/BatchDependence.h"

namespace titan::ir {

/// Adds stacked outputs to `repeat`: each pair is a value and the number of the variant that
/// computes it. The new outputs are the last results. `replaces` is called with each old result and
/// its replacement.
RepeatOp
appendStackedOutputs(RepeatOp repeat,
                     llvm::ArrayRef<std::pair<mlir::Value, unsigned>> valuesOfVariants,
                     llvm::function_ref<void(mlir::Value, mlir::Value)> replaces = nullptr);

/// Moves the operations with Dependence::AfterAccumulation out of the bodies of `repeat` into a
/// second repeat. Requires that no iteration argument depends on complete sums. Fails with an error
/// if the second repeat would need an iteration argument of the first. Leaves dead operations to
/// cleanUp().
mlir::LogicalResult distributeRepeat(RepeatOp repeat, const BatchDependence &dependence);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_LOOPDISTRIBUTION_H
