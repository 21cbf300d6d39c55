// Loop distribution of a repeat.
//
// Divides a repeat into two repeats over the same iterations (Allen and Kennedy): the first stacks
// values, the second scans them and computes the rest. Two passes need that:
// - A running mean over the batch consists of a sum over the batch and arithmetic on that sum. With
//   microbatches the sum belongs into the loop and the arithmetic after it.
// - A pipeline computes the gradients of a stage's parameters apart from that of its input.
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

/// Moves the stacked outputs with the numbers `moved` (of all results) and what only they need into
/// a second repeat. It scans the values for which `isScanned` is true, and computes all others from
/// these. Fails with an error if it would need an iteration argument; `purpose` says in the message
/// what the repeat could not be divided for. Leaves dead operations to cleanUp(). Returns the
/// second repeat.
mlir::FailureOr<RepeatOp> distributeRepeat(RepeatOp repeat, llvm::ArrayRef<unsigned> moved,
                                           llvm::function_ref<bool(mlir::Value)> isScanned,
                                           llvm::StringRef purpose);

/// Moves the operations with Dependence::AfterAccumulation out of the bodies of `repeat` into a
/// second repeat. Requires that no iteration argument depends on complete sums. Fails with an error
/// if the second repeat would need an iteration argument of the first. Leaves dead operations to
/// cleanUp().
mlir::LogicalResult distributeRepeat(RepeatOp repeat, const BatchDependence &dependence);

} // namespace titan::ir
