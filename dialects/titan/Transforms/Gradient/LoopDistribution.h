// Loop distribution of a repeat.
//
// Divides a repeat into two repeats over the same iterations (Allen and Kennedy, Optimizing
// Compilers for Modern Architectures, 2001): the first stacks values, the second scans them and
// computes the rest. Two passes divide repeats:
// - Accumulation: a running mean over the batch consists of a sum over the batch and arithmetic on
//   that sum. The loop over microbatches contains the sum; the arithmetic follows it.
// - Pipelines: the gradients of a stage's parameters are computed later than that of its input.
#pragma once

#include "dialects/titan/Transforms/Gradient/BatchDependence.h"

namespace titan::ir {

/// Adds stacked outputs to `repeat`: each pair is a value and the number of the variant that
/// computes it. The new outputs are the last results. `replaces` is called with each old result and
/// its replacement.
RepeatOp
appendStackedOutputs(RepeatOp repeat,
                     llvm::ArrayRef<std::pair<mlir::Value, unsigned>> valuesOfVariants,
                     llvm::function_ref<void(mlir::Value, mlir::Value)> replaces = nullptr);

/// Moves the stacked outputs with the numbers `moved` (among all results), and the operations that
/// only they need, into a second repeat. The second repeat scans the values for which `isScanned`
/// is true, and computes all others from these. Fails with the error `message` if it would need an
/// iteration argument. Leaves dead operations to cleanUp(). Returns the second repeat.
mlir::FailureOr<RepeatOp> distributeRepeat(RepeatOp repeat, llvm::ArrayRef<unsigned> moved,
                                           llvm::function_ref<bool(mlir::Value)> isScanned,
                                           llvm::StringRef message);

/// Moves the operations with Dependence::AfterAccumulation out of the bodies of `repeat` into a
/// second repeat. Requires that no iteration argument depends on complete sums. Fails with an error
/// if the second repeat would need an iteration argument of the first. Leaves dead operations to
/// cleanUp().
mlir::LogicalResult distributeRepeat(RepeatOp repeat, const BatchDependence &dependence);

} // namespace titan::ir
