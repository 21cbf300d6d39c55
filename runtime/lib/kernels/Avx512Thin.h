// Products of a few rows. Packing their columns would take longer than multiplying them, so these
// come from memory as they lie. The sums are those of panels.
#pragma once

#include "Avx512Panels.h"

namespace titan::rt::avx512 {

/// How many vectors of columns are worked on at once: a few lines of memory, or a piece of each.
template <bool AlongDepth> constexpr int kVectors = AlongDepth ? 2 : 8;

/// A step of depth of 16 columns for every row.
template <int Rows, typename P>
TITAN_SQUARES void addStep(__m512 (&sum)[Rows], const P *rows, __m512i columns) {
#pragma GCC unroll 3
  for (int r = 0; r < Rows; ++r)
    sum[r] = addProduct(sum[r], rows[r], _mm512_castsi512_ps(columns));
}

/// 16 steps of columns that run along depth, or as many as are there.
template <int Rows, int Vectors, typename E, typename P>
TITAN_SQUARES void addSquares(__m512 (&sum)[Vectors][Rows], const P *a, const E *b, int64_t ld,
                              int64_t columns, int64_t depths) {
  constexpr int64_t ahead = 256 / sizeof(E);
  const int64_t steps = quotient(depths, kDepthOfStep<P>);
#pragma GCC unroll 2
  for (int v = 0; v < Vectors; ++v, b += 16 * ld) {
    __m512i row[16];
    loadLines(b, ld, columns - 16 * v, depths, row);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      __builtin_prefetch(b + i * ld + ahead);
    transpose(row);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      if (i < steps)
        addStep(sum[v], a + i * kRowPlaces, row[i]);
  }
}

/// As many steps of columns that lie side by side.
template <int Rows, int Vectors, typename E, typename P>
TITAN_SQUARES void addRows(__m512 (&sum)[Vectors][Rows], const P *a, const E *b, int64_t ld,
                           int64_t columns, int64_t depths) {
  constexpr int64_t deep = kDepthOfStep<P>, ahead = 8;
  for (int64_t step = 0; step < 16 && depths > 0; ++step, depths -= deep, b += deep * ld)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      const auto there = static_cast<__mmask16>(firstBits(columns - 16 * v));
      addStep(sum[v], a + step * kRowPlaces, loadStep(b + 16 * v, ld, depths, there));
      __builtin_prefetch(b + 16 * v + ahead * deep * ld);
    }
}

/// C[Rows, columns] of the vectors at once, from a packed panel and B from `b` on.
template <bool AlongDepth, int Rows, typename E, typename P, typename To>
static void multiplyRows(const P *a, const E *b, int64_t ld, int64_t depths, int64_t columns,
                         const Destination<To> &c) {
  constexpr int vectors = kVectors<AlongDepth>;
  constexpr int64_t square = 16 * kDepthOfStep<P>;
  __m512 sum[vectors][Rows];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 3
    for (int r = 0; r < Rows; ++r)
      sum[v][r] = _mm512_setzero_ps();
  for (; depths > 0; depths -= square, a += 16 * kRowPlaces, b += AlongDepth ? square : square * ld)
    if constexpr (AlongDepth)
      addSquares(sum, a, b, ld, columns, depths);
    else
      addRows(sum, a, b, ld, columns, depths);
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 3
    for (int r = 0; r < Rows; ++r)
      store(sum[v][r], static_cast<__mmask16>(firstBits(columns - 16 * v)), c.at(r, 16 * v));
}

template <bool AlongDepth, typename E, typename P, typename To>
static void multiplyAcross(const P *a, int64_t m, const OperandOf<E> &b, const Slice &part,
                           const Destination<To> &c) {
  constexpr int64_t group = 16 * kVectors<AlongDepth>;
  auto multiply = m == 1   ? multiplyRows<AlongDepth, 1, E, P, To>
                  : m == 2 ? multiplyRows<AlongDepth, 2, E, P, To>
                           : multiplyRows<AlongDepth, 3, E, P, To>;
  for (int64_t j = 0; j < part.lines; j += group) {
    // What has no depth lies nowhere.
    const E *columns = part.depths > 0 ? b.at(part.line + j, part.depth) : nullptr;
    multiply(a, columns, b.ld, part.depths, part.lines - j, c.at(0, j));
  }
}

template <typename E, typename P, typename To>
static void multiplyRowsOf(const P *a, int64_t m, const OperandOf<E> &b, const Slice &part,
                           const Destination<To> &c) {
  if (b.alongDepth)
    multiplyAcross<true>(a, m, b, part, c);
  else
    multiplyAcross<false>(a, m, b, part, c);
}

} // namespace titan::rt::avx512
