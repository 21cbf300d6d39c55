// Value ranges of index tensors.
//
// Interval arithmetic on integer tensors. The intervals of leaves follow from dimension sizes,
// constants, iteration counts, and the tokens that the runtime accepts.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace titan::ir {

/// A closed interval.
struct Interval {
  int64_t least, most;
};

/// The ranges of integer tensors; each value is analysed once.
class IndexRanges {
public:
  /// `vocab` is the number of different tokens that the runtime accepts; none: unknown.
  explicit IndexRanges(std::optional<int64_t> vocab) : vocab(vocab) {}

  /// The range of the elements of `value`; none if it is unknown.
  std::optional<Interval> get(mlir::Value value);

  /// The value of an ordered comparison of integers, if their ranges decide it.
  std::optional<bool> decide(CompareOp op);

private:
  std::optional<Interval> compute(mlir::Value value);
  std::optional<Interval> computeForArgument(mlir::BlockArgument argument) const;
  std::optional<Interval> computeForArithmetic(mlir::Operation *op);

  std::optional<int64_t> vocab;
  llvm::DenseMap<mlir::Value, std::optional<Interval>> known;
};

/// The number of tokens that the runtime accepts (`titan.sizes`).
std::optional<int64_t> getVocabulary(mlir::ModuleOp module);

} // namespace titan::ir
