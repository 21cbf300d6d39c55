// GEMM with few rows of A. Packing B would cost more than the product, so B is read unpacked. The
// order of sums equals that of packed panels.
//
// V: the vector instructions. E: the elements of B. P: the elements of one row of A in a k-step
// (kDepthOfStep<P> of them). A panel of A has V::width such words per k-step.
#pragma once

#include "VectorPanels.h"

namespace titan::rt {

/// Vectors of columns per pass. Adjacent columns fill a few cache lines of one row of B.
/// K-contiguous columns are in cache lines of their own, of which a pass reads a part.
template <typename V, bool KContiguous>
constexpr int kVectorsAtOnce = KContiguous ? 2 : V::vectorsForFewRows;

/// One k-step of a vector of columns for every row.
template <typename V, int Rows, typename P>
TITAN_INLINED void addStep(typename V::Floats (&sum)[Rows], const P *rows,
                           typename V::Words columns) {
#pragma GCC unroll 3
  for (int r = 0; r < Rows; ++r)
    sum[r] = V::addProduct(sum[r], rows[r], V::asFloats(columns));
}

/// Up to V::width k-steps of K-major columns.
template <typename V, int Rows, int Vectors, typename E, typename P>
TITAN_INLINED void addAlongK(typename V::Floats (&sum)[Vectors][Rows], const P *a, const E *b,
                             int64_t ld, int64_t columns, int64_t kCount) {
  constexpr int64_t ahead = 256 / sizeof(E); // prefetched, in elements of k
  const int64_t steps = quotientUp(kCount, kDepthOfStep<P>);
  const typename V::Valid valid = V::firstLanes(kCount);
#pragma GCC unroll 2
  for (int v = 0; v < Vectors; ++v, b += V::width * ld, columns -= V::width) {
    typename V::Words row[V::width];
#pragma GCC unroll 16
    for (int i = 0; i < V::width; ++i)
      row[i] = V::template loadContiguous<P>(b + i * ld, i < columns ? valid : 0);
#pragma GCC unroll 16
    for (int i = 0; i < V::width; ++i)
      __builtin_prefetch(b + i * ld + ahead);
    V::transpose(row);
#pragma GCC unroll 16
    for (int i = 0; i < V::width; ++i)
      if (i < steps)
        addStep<V>(sum[v], a + i * V::width, row[i]);
  }
}

/// Up to V::width k-steps of adjacent columns.
template <typename V, int Rows, int Vectors, typename E, typename P>
TITAN_INLINED void addAcrossK(typename V::Floats (&sum)[Vectors][Rows], const P *a, const E *b,
                              int64_t ld, int64_t columns, int64_t kCount) {
  constexpr int64_t deep = kDepthOfStep<P>, ahead = 8; // prefetched, in k-steps
  for (int64_t step = 0; step < V::width && kCount > 0; ++step, kCount -= deep, b += deep * ld)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      const typename V::Valid valid = V::firstLanes(columns - V::width * v);
      addStep<V>(sum[v], a + step * V::width,
                 V::template loadStep<P>(b + V::width * v, ld, kCount, valid));
      __builtin_prefetch(b + V::width * v + ahead * deep * ld);
    }
}

/// C[Rows, columns] for `vectors` vectors of columns, from a packed panel of A and from B at `b`.
template <typename V, bool KContiguous, int Rows, typename E, typename P, typename To>
static void multiplyRows(const P *a, const E *b, int64_t ld, int64_t kCount, int64_t columns,
                         const Destination<To> &c) {
  constexpr int vectors = kVectorsAtOnce<V, KContiguous>;
  constexpr int64_t blockDepth = V::width * kDepthOfStep<P>;
  typename V::Floats sum[vectors][Rows];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 3
    for (int r = 0; r < Rows; ++r)
      sum[v][r] = V::zero();
  for (; kCount > 0; kCount -= blockDepth, a += V::width * V::width,
                     b += KContiguous ? blockDepth : blockDepth * ld)
    if constexpr (KContiguous)
      addAlongK<V>(sum, a, b, ld, columns, kCount);
    else
      addAcrossK<V>(sum, a, b, ld, columns, kCount);
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 3
    for (int r = 0; r < Rows; ++r)
      V::template store<P>(sum[v][r], V::firstLanes(columns - V::width * v), c.at(r, V::width * v));
}

/// C[m, all columns of the slice] for m <= 3 rows. The rows of a slice of B are the columns of C.
template <typename V, bool KContiguous, typename E, typename P, typename To>
static void multiplyAllColumns(const P *a, int64_t m, const OperandOf<E> &b, const Slice &slice,
                               const Destination<To> &c) {
  constexpr int64_t group = V::width * kVectorsAtOnce<V, KContiguous>;
  auto multiply = m == 1   ? multiplyRows<V, KContiguous, 1, E, P, To>
                  : m == 2 ? multiplyRows<V, KContiguous, 2, E, P, To>
                           : multiplyRows<V, KContiguous, 3, E, P, To>;
  for (int64_t j = 0; j < slice.rows; j += group) {
    // With k = 0, B has no memory.
    const E *columns = slice.kCount > 0 ? b.at(slice.firstRow + j, slice.firstK) : nullptr;
    multiply(a, columns, b.ld, slice.kCount, slice.rows - j, c.at(0, j));
  }
}

/// C = A B for m <= kSkinnyRows rows of a packed panel of A.
template <typename V, typename E, typename P, typename To>
static void multiplySkinny(const P *a, int64_t m, const OperandOf<E> &b, const Slice &slice,
                           const Destination<To> &c) {
  if (b.isKContiguous)
    multiplyAllColumns<V, true>(a, m, b, slice, c);
  else
    multiplyAllColumns<V, false>(a, m, b, slice, c);
}

} // namespace titan::rt
