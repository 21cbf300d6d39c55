// Tensors with a slot per iteration.
//
// A parameter of a repeat's body is one tensor with a slot per iteration that uses it; in nested
// repeats it has one leading dimension per repeat. The attribute `titan.stacked` maps slots to
// iterations. A unit attribute means that slot l belongs to iteration l; otherwise there is one
// list per leading dimension. Files and initialisation treat each slot as a tensor with its own
// name. If names of calls precede the repeat in the name, as in `teacher.layers.wq`, the attribute
// is a dictionary: `{iterations = [...], segments = array<i64: 1>}`.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// The contents of `titan.stacked`. Empty lists: the tensor is not stacked.
struct Stack {
  /// For each leading dimension, the iterations of its slots.
  llvm::SmallVector<llvm::SmallVector<int64_t>> iterations;
  /// For each leading dimension, the index of the repeat's segment in the tensor's name. The
  /// iteration follows that segment.
  llvm::SmallVector<int64_t> segments;
};

/// `segments` in ascending order, one per list of `iterations`.
mlir::Attribute getStackedAttr(mlir::Builder &builder,
                               llvm::ArrayRef<std::vector<int64_t>> iterations,
                               llvm::ArrayRef<int64_t> segments);

/// `stacked`: the attribute, or null if the tensor is not stacked. `type`: of the tensor; a unit
/// attribute has the iterations 0 .. n-1, where n is the size of the leading dimension.
Stack getStack(mlir::Attribute stacked, NamedTensorType type);

/// The number of leading dimensions that are repeats; 0 if `stacked` is null.
unsigned getStackedLevels(mlir::Attribute stacked);

/// True if the repeats are the first segments of the name.
bool hasDefaultSegments(const Stack &stack);

/// The names of the slots in row-major order: `layers.1.wq`, `layers.3.wq` of `layers.wq`. Segment
/// indices start after the first `prefixSegments` segments ("m" in a state's "m.layers.wq").
llvm::SmallVector<std::string> getSlotNames(llvm::StringRef name, const Stack &stack,
                                            unsigned prefixSegments = 0);

} // namespace titan::ir
