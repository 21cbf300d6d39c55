// Shared by the GEMMs of all element types: iteration over the batch, and BLAS integers.
#pragma once

#include "Gemm.h"
#include "base/Error.h"

#include <algorithm>
#include <climits>
#include <omp.h>
#include <string>

namespace titan::rt {

/// Converts to the 32-bit integers of BLAS.
inline int narrow(int64_t value) {
  if (value < 0 || value > INT_MAX)
    throw Fault("a matrix product has an extent or leading dimension of " + std::to_string(value) +
                ", which exceeds the 32-bit integers of BLAS");
  return static_cast<int>(value);
}

/// Offsets of the operands of one product of the batch.
struct BatchOffsets {
  int64_t a = 0, b = 0, c = 0;
};

inline BatchOffsets computeOffsets(std::span<const BatchDim> batch, int64_t index) {
  BatchOffsets at;
  for (size_t d = batch.size(); d-- > 0;) {
    int64_t i = index % batch[d].count;
    index /= batch[d].count;
    at.a += i * batch[d].strideA;
    at.b += i * batch[d].strideB;
    at.c += i * batch[d].strideC;
  }
  return at;
}

/// Calls product(offsets) for every batch index. Small or numerous products (of `multiplications`
/// each) run in parallel over the batch. Others run in order, and each may use all threads.
template <typename Product>
void forEachOfBatch(std::span<const BatchDim> batch, int64_t multiplications, Product &&product) {
  int64_t count = 1;
  bool areIndependent = true;
  for (const BatchDim &dim : batch) {
    count *= dim.count;
    areIndependent &= dim.count == 1 || dim.strideC != 0;
  }
  // From 2^24 multiplications on, a product is enough work for all threads.
  bool areSmall = multiplications < int64_t{1} << 24 || count >= 4 * omp_get_max_threads();
  if (areIndependent && areSmall && count > 1) {
#pragma omp parallel for schedule(static)
    for (int64_t index = 0; index < count; ++index)
      product(computeOffsets(batch, index));
    return;
  }
  for (int64_t index = 0; index < count; ++index)
    product(computeOffsets(batch, index));
}

} // namespace titan::rt
