// Packing and microkernels on vectors. Include this header only in translation units that are
// compiled for V (Avx512Vectors.h, Avx2Vectors.h) and run where the processor has it. All functions
// are static: the linker must not pick a copy for another instruction set.
#pragma once

#include "VectorUnit.h"

#include <utility>

#define TITAN_MEMBER __attribute__((always_inline))

namespace titan::rt {

static inline int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static inline int64_t quotientUp(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

constexpr int64_t kCacheLine = 64; // bytes
template <typename V> constexpr int64_t kPanelColumns = 2 * V::width;

/// Cache lines that a microkernel prefetches: `cacheLines` after each of its rows; `stride` bytes
/// between rows.
struct Prefetch {
  const void *from = nullptr;
  int64_t cacheLines = 0, stride = 0;
};

/// Packs one register block: up to V::width k-steps of up to V::width rows from `at`. `stride`
/// elements separate consecutive k-steps. (Scalar parameters, because GCC would reload an operand's
/// fields for each row.)
template <typename V, typename E, typename P>
TITAN_INLINED void packRegisterBlock(const E *at, int64_t ld, bool isKContiguous, int64_t rows,
                                     int64_t kCount, P *to, int64_t stride) {
  constexpr int64_t deep = kDepthOfStep<P>;
  const int64_t steps = least(V::width, quotientUp(kCount, deep));
  if (isKContiguous) {
    const typename V::Valid valid = V::firstLanes(kCount);
    typename V::Words row[V::width];
#pragma GCC unroll 16
    for (int i = 0; i < V::width; ++i)
      row[i] = V::template loadContiguous<P>(at + i * ld, i < rows ? valid : 0);
    V::transpose(row);
#pragma GCC unroll 16
    for (int i = 0; i < V::width; ++i)
      if (i < steps)
        V::store(to + i * stride, row[i]);
  } else {
    const typename V::Valid valid = V::firstLanes(rows);
    for (int64_t i = 0; i < steps; ++i)
      V::store(to + i * stride,
               V::template loadStep<P>(at + i * deep * ld, ld, kCount - i * deep, valid));
  }
}

/// Prefetches one cache line per row into L1; into L2 if rows are so far apart that a register
/// block does not fit in L1.
template <typename E> TITAN_INLINED void prefetchRows(const E *at, int64_t ld, int64_t rows) {
  if (ld * int64_t{sizeof(E)} % 2048 == 0)
    for (int64_t i = 0; i < rows; ++i)
      __builtin_prefetch(at + i * ld, 0, 2);
  else
    for (int64_t i = 0; i < rows; ++i)
      __builtin_prefetch(at + i * ld);
}

/// Packs panels of `rows` rows, padded to PaddedRows. Non-K-major operands are packed k-step by
/// k-step across all panels, to read memory in order. Padding rows then hold adjacent memory where
/// it exists, since full vectors load faster than partial ones.
template <typename V, int64_t PaddedRows, typename E, typename P>
static void packPanels(const OperandOf<E> &from, const Slice &slice, int64_t rows, P *to) {
  constexpr int64_t blockDepth = V::width * kDepthOfStep<P>;
  const int64_t panel = quotientUp(slice.kCount, kDepthOfStep<P>) * PaddedRows;
  auto packSteps = [=](int64_t row, int64_t depth, P *steps) {
    const E *at = from.at(slice.firstRow + row, slice.firstK + depth);
    if (from.isKContiguous)
      prefetchRows(at + 2 * blockDepth, from.ld, least(PaddedRows, slice.rows - row));
    else if (slice.kCount - depth > blockDepth)
      prefetchRows(at + blockDepth * from.ld, from.ld, blockDepth);
    for (int64_t offset = 0; offset < PaddedRows; offset += V::width) {
      const int64_t rest = slice.rows - row - offset;
      packRegisterBlock<V>(from.at(slice.firstRow + row + offset, slice.firstK + depth), from.ld,
                           from.isKContiguous,
                           from.isKContiguous ? least(rows - offset, rest) : rest,
                           slice.kCount - depth, steps + offset, PaddedRows);
    }
  };
  if (from.isKContiguous)
    for (int64_t row = 0; row < slice.rows; row += rows, to += panel)
      for (int64_t depth = 0; depth < slice.kCount; depth += blockDepth)
        packSteps(row, depth, to + depth / kDepthOfStep<P> * PaddedRows);
  else
    for (int64_t depth = 0; depth < slice.kCount;
         depth += blockDepth, to += V::width * PaddedRows) {
      P *steps = to;
      for (int64_t row = 0; row < slice.rows; row += rows, steps += panel)
        packSteps(row, depth, steps);
    }
}

/// Prefetches the row of C (and of partial sums) that a panel's sums go to.
template <typename V, typename To>
TITAN_INLINED void prefetchRow(const Destination<To> &c, int64_t row) {
  constexpr int64_t last = kPanelColumns<V> - 1;
  __builtin_prefetch(c.to + row * c.ld, 1);
  __builtin_prefetch(c.to + row * c.ld + last, 1);
  if (c.sums) {
    __builtin_prefetch(c.sums + row * c.ldSums);
    __builtin_prefetch(c.sums + row * c.ldSums + last);
  }
}

/// A packed panel of A: the rows of a k-step are contiguous.
template <typename V, typename P> struct PackedRows {
  PackedRows(const P *a, int64_t) : at(a) {}
  /// The element of a row at the current k-step, and the move to the next k-step.
  TITAN_MEMBER P operator[](int row) const { return at[row]; }
  TITAN_MEMBER void step() { at += V::width; }

  /// Elements between consecutive panels.
  static int64_t stride(int64_t, int64_t steps, int64_t) { return steps * V::width; }
  /// The slice of the next panel that one of `tiles` microkernel calls prefetches.
  static Prefetch prefetchSlice(const P *panel, int64_t steps, int64_t tile, int64_t tiles,
                                int64_t rows, int64_t) {
    constexpr int64_t inLine = kCacheLine / int64_t{sizeof(P)};
    const int64_t cacheLines = quotientUp(steps * V::width, inLine * tiles * rows);
    return {panel + tile * rows * cacheLines * inLine, cacheLines, cacheLines * kCacheLine};
  }

private:
  const P *at;
};

/// Unpacked K-major rows, where packing would not change an element. (An address and the row
/// distance reach three rows; there are too few registers for one address per row.)
template <typename V, typename E, typename P> struct UnpackedRows {
  UnpackedRows(const P *a, int64_t ld) : ld(ld) {
#pragma GCC unroll 5
    for (int i = 0; i < addresses; ++i)
      at[i] = reinterpret_cast<const E *>(a) + 3 * i * ld;
  }
  TITAN_MEMBER P operator[](int row) const {
    P element;
    __builtin_memcpy(&element, at[row / 3] + row % 3 * ld, sizeof(P));
    return element;
  }
  TITAN_MEMBER void step() {
#pragma GCC unroll 5
    for (int i = 0; i < addresses; ++i)
      at[i] += kDepthOfStep<P>;
  }

  static int64_t stride(int64_t rows, int64_t, int64_t ld) { return rows * ld / kDepthOfStep<P>; }
  static Prefetch prefetchSlice(const P *panel, int64_t steps, int64_t tile, int64_t tiles, int64_t,
                                int64_t ld) {
    constexpr int64_t inLine = kCacheLine / int64_t{sizeof(P)};
    const int64_t cacheLines = quotientUp(steps, inLine * tiles);
    return {panel + tile * cacheLines * inLine, cacheLines, ld * int64_t{sizeof(E)}};
  }

private:
  static constexpr int addresses = (V::maxRows + 2) / 3;
  const E *at[addresses];
  int64_t ld;
};

/// C[Rows, Vectors] from one panel of each operand; some columns may be missing. Rows of C and the
/// next panel are prefetched one at a time, late enough to stay in the cache and early enough to
/// arrive. All at once, they would compete with the panel loads.
template <typename V, typename Left, int Rows, int Vectors, typename P, typename To>
static void microkernel(const P *a, int64_t lda, const P *b, int64_t steps, int64_t columns,
                        Prefetch prefetch, const Destination<To> &c) {
  Left rows(a, lda);
  typename V::Floats sum[Rows][Vectors];
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      sum[r][v] = V::zero();
  auto addSteps = [&](int64_t count) __attribute__((always_inline)) {
#pragma GCC unroll 2
    for (int64_t step = 0; step < count; ++step, rows.step(), b += kPanelColumns<V>) {
      typename V::Floats lanes[Vectors];
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v)
        lanes[v] = V::load(b + V::width * v);
#pragma GCC unroll 14
      for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v)
          sum[r][v] = V::addProduct(sum[r][v], rows[r], lanes[v]);
    }
  };
  // Tuned: prefetches are spread over two fifths of the steps and end an eighth before the last.
  const int64_t between = 2 * steps / (5 * Rows), last = steps / 8;
  addSteps(steps - Rows * between - last);
  const char *next = static_cast<const char *>(prefetch.from);
  for (int64_t r = 0; r < Rows; ++r, next += prefetch.stride) {
    prefetchRow<V>(c, r);
    for (int64_t i = 0; i < prefetch.cacheLines; ++i)
      __builtin_prefetch(next + i * kCacheLine);
    addSteps(between);
  }
  addSteps(last);
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      V::template store<P>(sum[r][v], V::firstLanes(columns - V::width * v), c.at(r, V::width * v));
}

template <typename P, typename To>
using Microkernel = void(const P *a, int64_t lda, const P *b, int64_t steps, int64_t columns,
                         Prefetch prefetch, const Destination<To> &c);

/// Microkernels for every row count that fits, with 1 or 2 vectors of columns.
template <typename V, typename Left, typename P, typename To> struct MicrokernelTable {
  template <int... Rows>
  constexpr MicrokernelTable(std::integer_sequence<int, Rows...>)
      : of{{microkernel<V, Left, Rows + 1, 1, P, To>,
            microkernel<V, Left, Rows + 1, 2, P, To>}...} {}
  constexpr MicrokernelTable() : MicrokernelTable(std::make_integer_sequence<int, V::maxRows>()) {}
  Microkernel<P, To> *of[V::maxRows][2];
};

/// The macrokernel: each panel of B in turn with panelsAtOnce panels of A. Consecutive calls follow
/// the rows of C, which span few pages. Meanwhile the next panels of A are prefetched from memory
/// or from the thread that packed them.
template <typename V, typename Left, typename P, typename To>
static void macrokernel(const P *a, int64_t lda, int64_t rows, const P *b, const Extents &e,
                        const Destination<To> &c) {
  static constexpr MicrokernelTable<V, Left, P, To> microkernels;
  constexpr int64_t wide = kPanelColumns<V>, atOnce = V::panelsAtOnce;
  const int64_t steps = quotientUp(e.k, kDepthOfStep<P>), tiles = quotientUp(e.n, wide);
  const int64_t stride = Left::stride(rows, steps, lda);
  for (int64_t first = 0; first < e.m; first += atOnce * rows, a += atOnce * stride)
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t j = tile * wide, end = least(first + atOnce * rows, e.m);
      const bool isWide = e.n - j > V::width;
      const P *panel = a;
      for (int64_t i = first; i < end; i += rows, panel += stride) {
        Prefetch prefetch;
        if (i + atOnce * rows < e.m)
          prefetch = Left::prefetchSlice(panel + atOnce * stride, steps, tile, tiles, rows, lda);
        auto *kernel = microkernels.of[least(rows, e.m - i) - 1][isWide];
        kernel(panel, lda, b + j * steps, steps, e.n - j, prefetch, c.at(i, j));
      }
    }
}

} // namespace titan::rt
