//===- Draw.h - Random dimensions and values --------------------*- C++ -*-===//
//
// Everything follows from a seed, on every machine. Sizes are small and mostly divisible by 2 and
// 4, so that meshes have something to split; 1 and 3 occur too. Where asked for, one dimension of a
// case may be longer than the groups of threads that devices work in.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_TESTS_OPS_DRAW_H
#define TITAN_TESTS_OPS_DRAW_H

#include "tests/ops/Case.h"

#include <random>

namespace titan::ops {

class Draw {
public:
  Draw(mlir::MLIRContext *context, uint64_t seed, bool large = false)
      : builder(context), random(seed), mayBeLarge(large) {}

  /// Between both ends, which are included.
  int64_t number(int64_t from, int64_t to);
  double fraction(double from, double to);
  bool chance(double probability = 0.5) { return fraction(0, 1) < probability; }

  /// A dimension with a name that the case does not have yet; 0: any size.
  ir::DimAttr dim(int64_t size = 0);
  Dims dims(int64_t from, int64_t to);
  /// Some of `dims`, in another order now and then.
  Dims someOf(llvm::ArrayRef<ir::DimAttr> dims);
  Dims reorder(Dims dims);

  ir::NamedTensorType type(llvm::ArrayRef<ir::DimAttr> dims);
  /// Distinct values within a range, so far apart that differences do not step over a kink. Two
  /// tensors of a case have no value in common either.
  Tensor real(llvm::ArrayRef<ir::DimAttr> dims, double from = -1.5, double to = 1.5);
  Tensor integer(llvm::ArrayRef<ir::DimAttr> dims, int64_t from, int64_t to);
  Tensor boolean(llvm::ArrayRef<ir::DimAttr> dims);

  mlir::Builder builder;

private:
  std::mt19937_64 random;
  int64_t numDims = 0, numTensors = 0;
  bool mayBeLarge; ///< the next dimension
};

/// The names in `a`, then those that only `b` has.
Dims unite(llvm::ArrayRef<ir::DimAttr> a, llvm::ArrayRef<ir::DimAttr> b);

} // namespace titan::ops

#endif // TITAN_TESTS_OPS_DRAW_H
