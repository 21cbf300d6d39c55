// Blocked summation. The error of sequential summation grows with the number of terms. Here a few
// terms are summed in the element type, and these partial sums in double. So the error of a float
// sum does not depend on its length. The error is at most k * 2^-24 of the sum of absolute values,
// where k is the number of float additions per term plus one final rounding (N. J. Higham, Accuracy
// and Stability of Numerical Algorithms, 2nd edition, section 4.2):
//
//   columns side by side (ColumnSums): 2 + 1. All of a tensor (sum, dot of kernel_loops.h): 13 + 1.
//   Term by term (Sum): 15 + 1. A loop over vector lanes (kLaneBlock): 30 + 1, which is 1.9e-6;
//   for terms of one sign and size, less than 1e-6.
//
// The order depends on the shape and on the vector width, not on the number of threads.
//
// For CPUs and, compiled by nvcc, for devices. Nothing here allocates or fails.
#pragma once

#include "base/kernels/SumBlocks.h"
#include "titan/runtime/kernel_math.h"

#include <type_traits>

namespace titan::rt::tm {

/// Terms per block of a vectorised loop: each lane sums 16 terms, then the lanes are added in
/// sequence.
#ifdef __AVX512F__
constexpr int64_t kLaneBlock = 256;
#else
constexpr int64_t kLaneBlock = 128;
#endif
/// The end of the lane block that starts at `start`, of `count` terms.
TM_FUNCTION constexpr int64_t blockEnd(int64_t start, int64_t count) {
  return start + kLaneBlock < count ? start + kLaneBlock : count;
}

/// The type in which block sums of T are added.
template <typename T> using Total = std::conditional_t<std::is_floating_point_v<T>, double, T>;

/// A sum of one term at a time.
template <typename T> class Sum {
public:
  TM_FUNCTION void add(T term) {
    block += term;
    if (++terms < kSumBlock)
      return;
    total += block;
    block = 0;
    terms = 0;
  }
  /// Scales the sum so far.
  TM_FUNCTION void scale(T factor) {
    total *= factor;
    block *= factor;
  }
  TM_FUNCTION Total<T> get() const { return total + block; }

private:
  Total<T> total = 0;
  T block = 0;
  int terms = 0;
};

/// The index in `order` of the first index of `row`, where groupByRow (kernel_loops.h) has written
/// `ends` and `order`.
TM_FUNCTION int64_t groupBegin(const int64_t *ends, int64_t row) {
  return row > 0 ? ends[row - 1] : 0;
}

#ifndef __CUDACC__

namespace detail {

/// Pairwise sum of term(i, j) ... term(i + Rows - 1, j).
template <int Rows, typename Term> TM_FUNCTION auto sumRows(int64_t i, int64_t j, Term &&term) {
  if constexpr (Rows == 1)
    return term(i, j);
  else
    return sumRows<Rows / 2>(i, j, term) + sumRows<Rows / 2>(i + Rows / 2, j, term);
}

} // namespace detail

/// Sums of up to 64 adjacent columns. Four rows are added in the term type, and then in double.
/// More rows would evict each other from the cache if they are a multiple of a page apart.
template <typename T> struct ColumnSums {
  static constexpr int64_t kColumns = 64, kRows = 4;

  TM_FUNCTION explicit ColumnSums(int64_t width) : width(width) {
    for (int64_t j = 0; j < kColumns; ++j)
      total[j] = 0;
  }
  /// Adds term(i, j) for all i < rows to the sum of column j.
  template <typename Term> TM_FUNCTION void add(int64_t rows, Term &&term) {
    int64_t i = 0;
    for (; i + kRows <= rows; i += kRows)
      addRows<kRows>(i, term);
    for (; i < rows; ++i)
      addRows<1>(i, term);
  }
  TM_FUNCTION T operator[](int64_t j) const { return static_cast<T>(total[j]); }

private:
  template <int Rows, typename Term> TM_FUNCTION void addRows(int64_t i, Term &&term) {
#pragma omp simd
    for (int64_t j = 0; j < width; ++j)
      total[j] += static_cast<T>(detail::sumRows<Rows>(i, j, term));
  }

  alignas(64) Total<T> total[kColumns];
  int64_t width;
};

#endif // __CUDACC__

} // namespace titan::rt::tm
