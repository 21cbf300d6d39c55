// Tracks the padding of values in the pass --dist-pad-dimensions.
//
// Records the padded values, and the dimensions in which their padding is known to be 0. Creates
// masked and unpadded versions of values, each once, right after the value.
#pragma once

#include "dialects/dist/Analysis/ShardingRule.h"
#include "dialects/titan/IR/Titan.h"
#include "llvm/ADT/SmallBitVector.h"

namespace titan::dist {

class PaddedValues {
public:
  /// Records that `value` is padded, with its type without padding, and the dimensions in which the
  /// padding is 0: always, or else only if the elements outside of the padding are finite.
  void add(mlir::Value value, ir::NamedTensorType original, llvm::SmallBitVector zero,
           bool isAlwaysZero = true);
  /// Records a padded value whose padding is always 0 in all dimensions.
  void addZero(mlir::Value value, ir::NamedTensorType original);

  /// The type of `value` without padding.
  ir::NamedTensorType getOriginal(mlir::Value value) const;
  bool isPadded(mlir::Value value, int64_t dim) const;
  /// Whether `value` is 0 in the padding of `dim`. Dimension -1 (no such dimension) is 0 for a
  /// constant 0 only.
  bool isZero(mlir::Value value, int64_t dim) const;
  llvm::SmallBitVector getZero(mlir::Value value) const;
  /// Whether padding that is 0 does not depend on the other elements: the product of 0 and an
  /// infinite scalar is NaN.
  bool isAlwaysZero(mlir::Value value) const;

  /// `value` with the identity of the reduction in the padding of `dim`.
  mlir::Value getMasked(mlir::Value value, int64_t dim, ReductionKind kind);
  /// `value` with 0 in all padding.
  mlir::Value getZeroed(mlir::Value value);
  /// `value` without the padding of `dim`, or without any.
  mlir::Value getSliced(mlir::Value value, int64_t dim);
  mlir::Value getUnpadded(mlir::Value value);

private:
  struct State {
    ir::NamedTensorType original;
    llvm::SmallBitVector zero;
    bool isAlwaysZero;
  };
  llvm::DenseMap<mlir::Value, State> states;
  llvm::DenseMap<std::tuple<mlir::Value, int64_t, int>, mlir::Value> masked;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> sliced;
};

} // namespace titan::dist
