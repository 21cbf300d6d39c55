//===- Stacked.h - Tensors that hold what iterations own --------*- C++ -*-===//
//
// A parameter of a repeat's body is one tensor with a slot for each iteration that has it; of a
// repeat in a repeat, with two such dimensions in front. The attribute `titan.stacked` says which
// iterations the slots belong to: a unit attribute that slot l is iteration l, a list for each
// leading dimension otherwise. What is exchanged and initialised is the slot, by its own name.
// Where the names of calls come before the repeat's, as in `teacher.layers.wq`, the attribute is a
// dictionary: `{iterations = [...], segments = array<i64: 1>}`.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_IR_STACKED_H
#define TITAN_DIALECTS_TITAN_IR_STACKED_H

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// What `titan.stacked` says. Empty lists: the tensor is not stacked.
struct Stack {
  /// For each leading dimension, the iterations that its slots belong to.
  llvm::SmallVector<llvm::SmallVector<int64_t>> iterations;
  /// For each leading dimension, the repeat's part of the tensor's name, counted from 0: the
  /// iteration follows it.
  llvm::SmallVector<int64_t> segments;
};

/// `segments` in ascending order, one for each of `iterations`.
mlir::Attribute getStackedAttr(mlir::Builder &builder,
                               llvm::ArrayRef<std::vector<int64_t>> iterations,
                               llvm::ArrayRef<int64_t> segments);

/// `stacked`: the attribute, or null where the tensor is not stacked.
Stack getStack(mlir::Attribute stacked, NamedTensorType type);

/// How many leading dimensions of a tensor are repeats; 0 where `stacked` is null.
unsigned getStackedLevels(mlir::Attribute stacked);

/// Whether the attribute says more than that slot l is iteration l of a repeat that leads the name.
bool hasDefaultSegments(const Stack &stack);

/// The names of the slots in row-major order: `layers.1.wq`, `layers.3.wq` of `layers.wq`. The
/// first `prefixSegments` parts of the name ("m" of a state's "m.layers.wq") are not counted.
llvm::SmallVector<std::string> getSlotNames(llvm::StringRef name, const Stack &stack,
                                            unsigned prefixSegments = 0);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_STACKED_H
