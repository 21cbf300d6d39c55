// Random dimensions and values.
//
// A seed determines all values, identically on every machine. Sizes are small, and most are
// divisible by 2 and 4, so that meshes can shard them; 1 and 3 occur, too. With `large`, one
// dimension of a case may be longer than a warp or a thread block of a device.
#pragma once

#include "tests/ops/Case.h"

#include <random>

namespace titan::ops {

class Draw {
public:
  Draw(mlir::MLIRContext *context, uint64_t seed, bool large = false)
      : builder(context), random(seed), mayBeLarge(large) {}

  /// A number in the closed interval.
  int64_t number(int64_t from, int64_t to);
  double fraction(double from, double to);
  bool chance(double probability = 0.5) { return fraction(0, 1) < probability; }

  /// A dimension with a name new to the case; size 0: any size.
  ir::DimAttr dim(int64_t size = 0);
  Dims dims(int64_t from, int64_t to);
  /// Some of `dims`, sometimes in another order.
  Dims drawSome(llvm::ArrayRef<ir::DimAttr> dims);
  Dims reorder(Dims dims);

  ir::NamedTensorType type(llvm::ArrayRef<ir::DimAttr> dims);
  /// Distinct values in a range. They are far enough apart that finite differences cross no kink.
  /// Tensors of a case share no values.
  Tensor real(llvm::ArrayRef<ir::DimAttr> dims, double from = -1.5, double to = 1.5);
  Tensor integer(llvm::ArrayRef<ir::DimAttr> dims, int64_t from, int64_t to);
  Tensor boolean(llvm::ArrayRef<ir::DimAttr> dims);

  mlir::Builder builder;

private:
  std::mt19937_64 random;
  int64_t numDims = 0, numTensors = 0;
  bool mayBeLarge; ///< no dimension has been large yet
};

/// The dimensions of `a`, then those that only `b` has.
Dims unite(llvm::ArrayRef<ir::DimAttr> a, llvm::ArrayRef<ir::DimAttr> b);

} // namespace titan::ops
