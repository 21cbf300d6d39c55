//===- IndexRange.h - Between which numbers indices are ---------*- C++ -*-===//
//
// Intervals of integer tensors, from the sizes of dimensions, constants, the iterations of repeats
// and the tokens that the runtime lets pass, by interval arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_MODEL_INDEXRANGE_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_MODEL_INDEXRANGE_H

#include "dialects/titan/IR/Titan.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace titan::ir {

/// Both ends are included.
struct Interval {
  int64_t least, most;
};

class IndexRanges {
public:
  /// `vocab` is the number of different tokens that the runtime lets pass; none: unknown.
  explicit IndexRanges(std::optional<int64_t> vocab) : vocab(vocab) {}

  /// Nothing where nobody knows.
  std::optional<Interval> get(mlir::Value value);

private:
  std::optional<Interval> compute(mlir::Value value);
  std::optional<Interval> ofArgument(mlir::BlockArgument argument) const;
  std::optional<Interval> ofArithmetic(mlir::Operation *op);

  std::optional<int64_t> vocab;
  llvm::DenseMap<mlir::Value, std::optional<Interval>> known;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_MODEL_INDEXRANGE_H
