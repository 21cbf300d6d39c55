// Packing of operands for vectors, and their product. For translation units that are compiled for
// V (Avx512Vectors.h, Avx2Vectors.h) and run where the processor has it alone; everything is
// static, lest the linker take a function compiled for this processor for one that others call.
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

constexpr int64_t kCacheLine = 64; // bytes of the caches
template <typename V> constexpr int64_t kPanelColumns = 2 * V::width;

/// Lines of memory that a product asks for while it goes on: so many behind each of its rows, each
/// so many bytes from where those of the row before begin.
struct Prefetch {
  const void *from = nullptr;
  int64_t cacheLines = 0, stride = 0;
};

/// At most as many steps of as many lines from `at` on as a vector has elements; the places of a
/// step are so many elements before those of the next. (Scalars, since GCC would read an operand's
/// anew for each row.)
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

/// Asks for a line of memory of each of so many rows, for the first cache; or the second, where
/// rows are so far apart that those of a square do not find room for themselves in the first.
template <typename E> TITAN_INLINED void prefetchRows(const E *at, int64_t ld, int64_t rows) {
  if (ld * int64_t{sizeof(E)} % 2048 == 0)
    for (int64_t i = 0; i < rows; ++i)
      __builtin_prefetch(at + i * ld, 0, 2);
  else
    for (int64_t i = 0; i < rows; ++i)
      __builtin_prefetch(at + i * ld);
}

/// Panels of `lines` lines, in as many places as some vectors have. All panels' next steps come
/// before those after them, so that rows of memory that go across them are read along; places
/// without a line then hold what follows in memory, where there is something, as whole vectors are
/// loaded faster than parts.
template <typename V, int64_t PaddedRows, typename E, typename P>
static void packPanels(const OperandOf<E> &from, const Slice &part, int64_t rows, P *to) {
  constexpr int64_t blockDepth = V::width * kDepthOfStep<P>;
  const int64_t panel = quotientUp(part.kCount, kDepthOfStep<P>) * PaddedRows;
  auto packSteps = [=](int64_t row, int64_t depth, P *steps) {
    const E *at = from.at(part.firstRow + row, part.firstK + depth);
    if (from.isKContiguous)
      prefetchRows(at + 2 * blockDepth, from.ld, least(PaddedRows, part.rows - row));
    else if (part.kCount - depth > blockDepth)
      prefetchRows(at + blockDepth * from.ld, from.ld, blockDepth);
    for (int64_t offset = 0; offset < PaddedRows; offset += V::width) {
      const int64_t rest = part.rows - row - offset;
      packRegisterBlock<V>(from.at(part.firstRow + row + offset, part.firstK + depth), from.ld,
                           from.isKContiguous,
                           from.isKContiguous ? least(rows - offset, rest) : rest,
                           part.kCount - depth, steps + offset, PaddedRows);
    }
  };
  if (from.isKContiguous)
    for (int64_t row = 0; row < part.rows; row += rows, to += panel)
      for (int64_t depth = 0; depth < part.kCount; depth += blockDepth)
        packSteps(row, depth, to + depth / kDepthOfStep<P> * PaddedRows);
  else
    for (int64_t depth = 0; depth < part.kCount; depth += blockDepth, to += V::width * PaddedRows) {
      P *steps = to;
      for (int64_t row = 0; row < part.rows; row += rows, steps += panel)
        packSteps(row, depth, steps);
    }
}

/// What a row of a panel's sums is added to and stored in.
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

/// A panel of a left operand, packed: the rows of a step side by side.
template <typename V, typename P> struct PackedRows {
  PackedRows(const P *a, int64_t) : at(a) {}
  TITAN_MEMBER P operator[](int row) const { return at[row]; }
  TITAN_MEMBER void step() { at += V::width; }

  /// From a panel to the next.
  static int64_t stride(int64_t, int64_t steps, int64_t) { return steps * V::width; }
  /// How a panel is shared out among products of so many rows.
  static Prefetch prefetchSlice(const P *panel, int64_t steps, int64_t tile, int64_t tiles,
                                int64_t rows, int64_t) {
    constexpr int64_t inLine = kCacheLine / int64_t{sizeof(P)};
    const int64_t cacheLines = quotientUp(steps * V::width, inLine * tiles * rows);
    return {panel + tile * rows * cacheLines * inLine, cacheLines, cacheLines * kCacheLine};
  }

private:
  const P *at;
};

/// Rows as they lie in memory, along the depth, where an element is packed as it lies there. (Three
/// of them are what an address and the distance between rows reach, and there are not enough
/// registers for an address each.)
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

/// C[Rows, so many vectors] from a panel of either side, of whose columns some may be missing. Rows
/// of C, and what comes next, are asked for one after the other, late enough to be still there and
/// early enough to be there in time: all at once they would take the places of the caches' own
/// traffic, and panels wait behind them.
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

/// The products of any number of rows that fits with 1 or 2 vectors of columns.
template <typename V, typename Left, typename P, typename To> struct MicrokernelTable {
  template <int... Rows>
  constexpr MicrokernelTable(std::integer_sequence<int, Rows...>)
      : of{{microkernel<V, Left, Rows + 1, 1, P, To>,
            microkernel<V, Left, Rows + 1, 2, P, To>}...} {}
  constexpr MicrokernelTable() : MicrokernelTable(std::make_integer_sequence<int, V::maxRows>()) {}
  Microkernel<P, To> *of[V::maxRows][2];
};

/// Some panels of A by each of B's in turn. One of them by all of B's goes along rows of C, which
/// lie in few pages. Meanwhile the panels that come next are brought from memory, or from where
/// another thread packed them.
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
