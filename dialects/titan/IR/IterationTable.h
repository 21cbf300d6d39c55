//===- IterationTable.h - Which body each iteration runs --------*- C++ -*-===//
//
// The iterations of a repeat are not all alike: each runs one of several bodies, its variant. A
// tensor that only some variants use (a parameter of every second layer, what the backward of one
// variant needs) is stacked without gaps: it has a slot for each iteration that uses it, in order.
// Where all iterations are alike (those of a repeat over microbatches, of which there may be
// millions), the table is their number alone. Plain data; `titan.repeat` makes it of its
// attributes.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_IR_ITERATIONTABLE_H
#define TITAN_DIALECTS_TITAN_IR_ITERATIONTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace titan::ir {

class IterationTable {
public:
  /// `variants[l]` is the variant of iteration l.
  explicit IterationTable(llvm::SmallVector<int64_t> variants)
      : variants(std::move(variants)), iterations(this->variants.size()) {}
  /// So many iterations run variant 0.
  explicit IterationTable(int64_t iterations) : iterations(iterations) {}

  int64_t getNumIterations() const { return iterations; }
  int64_t getVariant(int64_t iteration) const { return variants.empty() ? 0 : variants[iteration]; }
  /// The variant of each iteration; empty where all run variant 0.
  llvm::ArrayRef<int64_t> getVariants() const { return variants; }
  bool operator==(const IterationTable &other) const {
    return variants == other.variants && iterations == other.iterations;
  }

  /// The iterations that run one of the variants `users`, in order.
  llvm::SmallVector<int64_t> getIterations(llvm::ArrayRef<int64_t> users) const;
  /// How many these are: the size of a stack that `users` share.
  int64_t getCount(llvm::ArrayRef<int64_t> users) const;
  /// For each iteration its slot in such a stack; -1 where it has none.
  llvm::SmallVector<int64_t> getSlots(llvm::ArrayRef<int64_t> users) const;

private:
  llvm::SmallVector<int64_t> variants;
  int64_t iterations;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_ITERATIONTABLE_H
