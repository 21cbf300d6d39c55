// Packing of operands for vectors of 512 bits, and their product. For translation units that are
// compiled for AVX-512 and run where the processor has it alone; everything is static, as in
// Avx512Squares.h.
#pragma once

#include "Avx512.h"
#include "Avx512Squares.h"

#include <utility>

namespace titan::rt::avx512 {

#define TITAN_MEMBER __attribute__((always_inline))

/// What is packed: P is float, or uint32_t for a pair of bf16.
template <typename P> constexpr int64_t kDepthOfStep = 1;
template <> inline constexpr int64_t kDepthOfStep<uint32_t> = 2;

static inline int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static inline int64_t quotient(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

constexpr int64_t kLine = 64; // bytes of the caches

/// Lines of memory that a product asks for while it goes on: so many behind each of its rows, each
/// so many bytes from where those of the row before begin.
struct Ahead {
  const void *from = nullptr;
  int64_t lines = 0, stride = 0;
};

/// At most 16 steps of at most 16 lines from `at` on; the places of a step are so many elements
/// before those of the next. (Scalars, since GCC would read an operand's anew for each row.)
template <typename E, typename P>
TITAN_SQUARES void packSquare(const E *at, int64_t ld, bool alongDepth, int64_t lines,
                              int64_t depths, P *to, int64_t places) {
  constexpr int64_t deep = kDepthOfStep<P>;
  const int64_t steps = least(16, quotient(depths, deep));
  if (alongDepth) {
    __m512i row[16];
    loadLines(at, ld, lines, depths, row);
    transpose(row);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      if (i < steps)
        _mm512_store_si512(to + i * places, row[i]);
  } else {
    const auto there = static_cast<__mmask16>(firstBits(lines));
    for (int64_t i = 0; i < steps; ++i)
      _mm512_store_si512(to + i * places,
                         loadStep(at + i * deep * ld, ld, depths - i * deep, there));
  }
}

/// Panels of `lines` lines, in as many places as squares of 16 take. All panels' next 16 steps come
/// before those after them, so that rows of memory that go across them are read along.
template <int64_t Places, typename E, typename P>
static void packPanels(const OperandOf<E> &from, const Slice &part, int64_t lines, P *to) {
  constexpr int64_t square = 16 * kDepthOfStep<P>;
  const int64_t panel = quotient(part.depths, kDepthOfStep<P>) * Places;
  auto packSteps = [=](int64_t line, int64_t depth) {
    P *steps = to + line / lines * panel + depth / kDepthOfStep<P> * Places;
    for (int64_t place = 0; place < Places; place += 16)
      packSquare(from.at(part.line + line + place, part.depth + depth), from.ld, from.alongDepth,
                 least(lines - place, part.lines - line - place), part.depths - depth,
                 steps + place, Places);
  };
  if (from.alongDepth)
    for (int64_t line = 0; line < part.lines; line += lines)
      for (int64_t depth = 0; depth < part.depths; depth += square)
        packSteps(line, depth);
  else
    for (int64_t depth = 0; depth < part.depths; depth += square)
      for (int64_t line = 0; line < part.lines; line += lines)
        packSteps(line, depth);
}

TITAN_SQUARES __m512 addProduct(__m512 sum, float row, __m512 columns) {
  return _mm512_fmadd_ps(_mm512_set1_ps(row), columns, sum);
}
TITAN_SQUARES __m512 addProduct(__m512 sum, uint32_t row, __m512 columns) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(row))),
                          reinterpret_cast<__m512bh>(columns));
}

TITAN_SQUARES void store(__m512 sum, __mmask16 there, const Destination<float> &c) {
  if (c.adds)
    sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(there, c.to));
  _mm512_mask_storeu_ps(c.to, there, sum);
}

TITAN_SQUARES void store(__m512 sum, __mmask16 there, const Destination<bf16> &c) {
  if (c.sums)
    sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(there, c.sums));
  if (c.adds) {
    const __m512i old = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, c.to));
    sum = _mm512_add_ps(sum, _mm512_castsi512_ps(_mm512_slli_epi32(old, 16)));
  }
  _mm256_mask_storeu_epi16(c.to, there, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(sum)));
}

/// What a row of 32 sums is added to and stored in.
TITAN_SQUARES void prefetch(const Destination<float> &c, int64_t row) {
  __builtin_prefetch(c.to + row * c.ld, 1);
  __builtin_prefetch(c.to + row * c.ld + 31, 1);
}

TITAN_SQUARES void prefetch(const Destination<bf16> &c, int64_t row) {
  __builtin_prefetch(c.to + row * c.ld, 1);
  __builtin_prefetch(c.to + row * c.ld + 31, 1);
  if (c.sums) {
    __builtin_prefetch(c.sums + row * c.ldSums);
    __builtin_prefetch(c.sums + row * c.ldSums + 31);
  }
}

/// A panel of a left operand, packed: the rows of a step side by side.
template <typename P> struct PackedRows {
  PackedRows(const P *a, int64_t) : at(a) {}
  TITAN_MEMBER P operator[](int row) const { return at[row]; }
  TITAN_MEMBER void step() { at += kRowPlaces; }

  /// From a panel to the next.
  static int64_t stride(int64_t, int64_t steps, int64_t) { return steps * kRowPlaces; }
  /// A step is a line: how a panel is shared out among products of so many rows.
  static Ahead share(const P *panel, int64_t steps, int64_t tile, int64_t tiles, int64_t rows,
                     int64_t) {
    const int64_t lines = quotient(steps, tiles * rows);
    return {panel + tile * rows * lines * kRowPlaces, lines, lines * kLine};
  }

private:
  const P *at;
};

/// Rows of floats as they lie in memory, along the depth. (Three of them are what an address and
/// the distance between rows reach, and there are not enough registers for an address each.)
struct RowsInPlace {
  RowsInPlace(const float *a, int64_t ld) : ld(ld) {
#pragma GCC unroll 5
    for (int i = 0; i < 5; ++i)
      at[i] = a + 3 * i * ld;
  }
  TITAN_MEMBER float operator[](int row) const { return at[row / 3][row % 3 * ld]; }
  TITAN_MEMBER void step() {
#pragma GCC unroll 5
    for (int i = 0; i < 5; ++i)
      ++at[i];
  }

  static int64_t stride(int64_t rows, int64_t, int64_t ld) { return rows * ld; }
  static Ahead share(const float *panel, int64_t steps, int64_t tile, int64_t tiles, int64_t,
                     int64_t ld) {
    const int64_t lines = quotient(steps, 16 * tiles);
    return {panel + tile * lines * 16, lines, ld * int64_t{sizeof(float)}};
  }

private:
  const float *at[5];
  int64_t ld;
};

/// C[Rows, 16 Vectors] from a panel of either side; of the columns some may be missing. Rows of C,
/// and what comes next, are asked for one after the other, late enough to be still there and early
/// enough to be there in time: all at once they would take the places of the caches' own traffic,
/// and panels wait behind them.
template <typename Left, int Rows, int Vectors, typename P, typename To>
static void multiplyPanel(const P *a, int64_t lda, const P *b, int64_t steps, uint32_t there,
                          Ahead ahead, const Destination<To> &c) {
  Left rows(a, lda);
  __m512 sum[Rows][Vectors];
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      sum[r][v] = _mm512_setzero_ps();
  auto addSteps = [&](int64_t count) __attribute__((always_inline)) {
#pragma GCC unroll 2
    for (int64_t step = 0; step < count; ++step, rows.step(), b += kColumns) {
      __m512 columns[Vectors];
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v)
        columns[v] = _mm512_load_ps(b + 16 * v);
#pragma GCC unroll 14
      for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v)
          sum[r][v] = addProduct(sum[r][v], rows[r], columns[v]);
    }
  };
  const int64_t between = 2 * steps / (5 * Rows), last = steps / 8;
  addSteps(steps - Rows * between - last);
  const char *next = static_cast<const char *>(ahead.from);
  for (int64_t r = 0; r < Rows; ++r, next += ahead.stride) {
    prefetch(c, r);
    for (int64_t line = 0; line < ahead.lines; ++line)
      __builtin_prefetch(next + line * kLine);
    addSteps(between);
  }
  addSteps(last);
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      store(sum[r][v], static_cast<__mmask16>(there >> 16 * v), c.at(r, 16 * v));
}

template <typename P, typename To>
using Multiply = void(const P *a, int64_t lda, const P *b, int64_t steps, uint32_t there,
                      Ahead ahead, const Destination<To> &c);

/// The products of 1 to 14 rows with 1 or 2 vectors of columns.
template <typename Left, typename P, typename To> struct Multiplies {
  template <int... Rows>
  constexpr Multiplies(std::integer_sequence<int, Rows...>)
      : of{{multiplyPanel<Left, Rows + 1, 1, P, To>, multiplyPanel<Left, Rows + 1, 2, P, To>}...} {}
  constexpr Multiplies() : Multiplies(std::make_integer_sequence<int, kMostRows>()) {}
  Multiply<P, To> *of[kMostRows][2];
};

/// Along rows of C, which lie in few pages. While a panel of A is multiplied by all of B's, the
/// next is brought from memory, or from where another thread packed it.
template <typename Left, typename P, typename To>
static void multiplyAll(const P *a, int64_t lda, int64_t rows, const P *b, const Extents &e,
                        const Destination<To> &c) {
  static constexpr Multiplies<Left, P, To> multiplies;
  const int64_t steps = quotient(e.k, kDepthOfStep<P>), tiles = quotient(e.n, kColumns);
  for (int64_t i = 0; i < e.m; i += rows) {
    const P *next = a + (i + rows < e.m ? Left::stride(rows, steps, lda) : 0);
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t j = tile * kColumns;
      const Ahead ahead = next == a ? Ahead{} : Left::share(next, steps, tile, tiles, rows, lda);
      multiplies.of[least(rows, e.m - i) - 1][e.n - j > 16](a, lda, b + j * steps, steps,
                                                            firstBits(e.n - j), ahead, c.at(i, j));
    }
    a = next;
  }
}

} // namespace titan::rt::avx512
