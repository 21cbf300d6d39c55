// Sums of many terms. A sum that adds one term after the other loses digits in proportion to its
// length. Here a few terms are added in the elements' own type, and the sums of such blocks in
// double, so that the error of a sum of floats does not depend on its length. It is at most as many
// times 2^-24 of the sum of the terms' absolute values as a term passes additions in float, and one
// more for the rounding of the result (N. J. Higham, Accuracy and Stability of Numerical
// Algorithms, 2nd edition, section 4.2):
//
//   columns side by side (ColumnSums): 2 + 1. All of a tensor (sum, dot of kernel_loops.h): 13 + 1.
//   One term after the other (Sum): 15 + 1. A loop in the lanes of vectors (kLaneBlock): 30 + 1,
//   which is 1.9e-6; of terms of one sign and size, less than 1e-6.
//
// The order depends on the shape and the processor's vectors, not on the number of threads.
//
// For processors and, compiled by nvcc, for devices. Nothing here allocates or fails.
#pragma once

#include "base/kernels/SumBlocks.h"
#include "titan/runtime/kernel_math.h"

#include <type_traits>

namespace titan::rt::tm {

/// Terms of a loop whose iterations fill the lanes of vectors, of which each sums 16; then the
/// lanes are added, one after the other.
#ifdef __AVX512F__
constexpr int64_t kLaneBlock = 256;
#else
constexpr int64_t kLaneBlock = 128;
#endif
/// Where the block of lanes that begins at `start` ends, of so many terms.
TM_FUNCTION constexpr int64_t blockEnd(int64_t start, int64_t count) {
  return start + kLaneBlock < count ? start + kLaneBlock : count;
}

/// The type in which sums of blocks of T are added.
template <typename T> using Total = std::conditional_t<std::is_floating_point_v<T>, double, T>;

/// A sum that takes one term at a time.
template <typename T> class Sum {
public:
  TM_FUNCTION void add(T term) {
    part += term;
    if (++terms < kSumBlock)
      return;
    total += part;
    part = 0;
    terms = 0;
  }
  /// Multiplies the terms so far by a factor.
  TM_FUNCTION void scale(T factor) {
    total *= factor;
    part *= factor;
  }
  TM_FUNCTION Total<T> get() const { return total + part; }

private:
  Total<T> total = 0;
  T part = 0;
  int terms = 0;
};

/// Where the numbers of a row begin, as groupByRow (kernel_loops.h) leaves `ends`.
TM_FUNCTION int64_t groupBegin(const int64_t *ends, int64_t row) {
  return row > 0 ? ends[row - 1] : 0;
}

#ifndef __CUDACC__

namespace detail {

/// The sum of term(i, j) ... term(i + Rows - 1, j), in pairs.
template <int Rows, typename Term> TM_FUNCTION auto sumRows(int64_t i, int64_t j, Term &&term) {
  if constexpr (Rows == 1)
    return term(i, j);
  else
    return sumRows<Rows / 2>(i, j, term) + sumRows<Rows / 2>(i + Rows / 2, j, term);
}

} // namespace detail

/// Sums of up to 64 columns, side by side. Four rows are added in the terms' type, and then in
/// double: with more, rows that are a multiple of a page apart displace each other in the cache.
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
