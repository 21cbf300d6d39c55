// The body of each iteration.
//
// Each iteration of a repeat runs one of several bodies, its variant. A tensor that only some
// variants use (a parameter of every second layer, a residual of one variant) is stacked without
// gaps: it has one slot per iteration that uses it, in order. If all iterations run the same body,
// the table contains only their number; a repeat over microbatches may have millions. Plain data,
// created from the attributes of `titan.repeat`.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace titan::ir {

/// The variant of each iteration of a repeat.
class IterationTable {
public:
  /// `variants[l]` is the variant of iteration l.
  explicit IterationTable(llvm::SmallVector<int64_t> variants)
      : variants(std::move(variants)), iterations(this->variants.size()) {}
  /// `iterations` iterations of variant 0.
  explicit IterationTable(int64_t iterations) : iterations(iterations) {}

  int64_t getNumIterations() const { return iterations; }
  int64_t getVariant(int64_t iteration) const { return variants.empty() ? 0 : variants[iteration]; }
  /// The variant of each iteration; empty if all run variant 0.
  llvm::ArrayRef<int64_t> getVariants() const { return variants; }
  bool operator==(const IterationTable &other) const {
    return variants == other.variants && iterations == other.iterations;
  }

  /// The iterations that run one of the variants `users`, in order.
  llvm::SmallVector<int64_t> getIterations(llvm::ArrayRef<int64_t> users) const;
  /// The number of these iterations: the size of a stack that `users` share.
  int64_t getCount(llvm::ArrayRef<int64_t> users) const;
  /// The slot of each iteration in such a stack; -1 if it has none.
  llvm::SmallVector<int64_t> getSlots(llvm::ArrayRef<int64_t> users) const;

private:
  llvm::SmallVector<int64_t> variants;
  int64_t iterations;
};

} // namespace titan::ir
