// Microkernels of the attention kernels. Queries (or keys, or head dimensions) occupy contiguous
// vector lanes. The other operand is broadcast, one element at a time, from panels of 8 rows:
// element d of row i is at d * 8 + i of its panel, so a step reads consecutive memory in both
// directions. GCC vector types replace intrinsics: 64 bytes are one AVX-512 register or two AVX2
// registers.
#pragma once

#include "Transpose.h"

#include "base/kernels/AttentionScratch.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace titan::rt {

#if defined(__AVX512F__)
constexpr int64_t kRegisterBytes = 64;
#elif defined(__AVX__)
constexpr int64_t kRegisterBytes = 32;
#else
constexpr int64_t kRegisterBytes = 16;
#endif

/// Numbers of elements of T: in a vector of the layout, in a block, in a register.
template <typename T> struct Lanes {
  static constexpr int64_t vector = attention_scratch::kVectorBytes / sizeof(T);
  static constexpr int64_t block = 2 * vector; // queries or keys per block
  static constexpr int64_t inRegister = kRegisterBytes / sizeof(T);
  static constexpr int registers = block / inRegister; // per block
  typedef T Register __attribute__((vector_size(kRegisterBytes), may_alias));
};

/// to[d * toStride] = from[d * fromStride] * factor. Strides of 1 are common and have separate
/// loops. The product has the type of `factor`, whatever the types in memory.
template <typename From, typename T, typename To>
inline void scaleRow(const From *from, int64_t fromStride, T factor, int64_t count, To *to,
                     int64_t toStride) {
  auto walk = [&](auto fromAt, auto toAt) {
    for (int64_t d = 0; d < count; ++d)
      to[d * toAt] = static_cast<T>(from[d * fromAt]) * factor;
  };
  using One = std::integral_constant<int64_t, 1>;
  if (fromStride == 1 && toStride == 1)
    walk(One(), One());
  else if (fromStride == 1)
    walk(One(), toStride);
  else if (toStride == 1)
    walk(fromStride, One());
  else
    walk(fromStride, toStride);
}

constexpr int64_t kPanelRows = attention_scratch::kPanelRows;

/// Packs rows of `depth` elements into panels; missing rows of the last panel are 0.
template <typename E, typename T>
void packRows(const E *from, RowStrides at, int64_t rows, int64_t depth, T *to) {
  for (int64_t row = 0; row < rows; row += kPanelRows, to += depth * kPanelRows) {
    const int64_t count = rows - row < kPanelRows ? rows - row : kPanelRows;
    if (count < kPanelRows)
      std::fill_n(to, depth * kPanelRows, T(0));
    transpose(from + row * at.row, at, count, depth, T(1), to, kPanelRows);
  }
}

/// Transposes rows into to[depth][lanes], times `factor`; missing lanes are 0.
template <typename E, typename T>
void packLanes(const E *from, RowStrides at, int64_t rows, int64_t depth, T factor, T *to) {
  if (rows < Lanes<T>::block)
    std::fill_n(to, depth * Lanes<T>::block, T(0));
  transpose(from, at, rows, depth, factor, to, Lanes<T>::block);
}

/// Transposes factor * lanes[depth][lanes] back into rows.
template <typename T, typename E>
void storeRows(const T *lanes, int64_t depth, T factor, E *to, RowStrides at, int64_t rows) {
  if (at.element == 1)
    return transpose(lanes, {Lanes<T>::block, 1}, depth, rows, factor, to, at.row);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t d = 0; d < depth; ++d)
      to[row * at.row + d * at.element] = lanes[d * Lanes<T>::block + row] * factor;
}

/// `Rows` rows of `Registers` registers, held in registers during a sum.
template <typename T, int Rows, int Registers> struct Tile {
  using Register = typename Lanes<T>::Register;

  TITAN_VECTOR_INLINE void clear() {
    forEach([&](int r, int v) { sum[r][v] = Register{}; });
  }
  TITAN_VECTOR_INLINE void store(T *c, int64_t ldc) {
    forEach([&](int r, int v) { reinterpret_cast<Register *>(c + r * ldc)[v] = sum[r][v]; });
  }
  /// Adds the sums of a block to those of earlier blocks. Adding terms one at a time would lose
  /// more digits the longer the sequence is.
  TITAN_VECTOR_INLINE void addTo(T *c, int64_t ldc) {
    forEach([&](int r, int v) { reinterpret_cast<Register *>(c + r * ldc)[v] += sum[r][v]; });
  }
  /// Adds one k-step: row r gains its factor, `Stride` elements after the previous one, times the
  /// lanes.
  template <int64_t Stride> TITAN_VECTOR_INLINE void add(const T *factors, const T *lanes) {
    const auto *row = reinterpret_cast<const Register *>(lanes);
    forEach([&](int r, int v) { sum[r][v] += factors[r * Stride] * row[v]; });
  }

private:
  template <typename Body> static TITAN_VECTOR_INLINE void forEach(Body &&body) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < Registers; ++v)
        body(r, v);
  }

  Register sum[Rows][Registers];
};

/// Eight rows of sums use 16 of the 32 AVX-512 registers, or 8 of the 16 registers of other
/// processors.
constexpr int kTileRegisters = kRegisterBytes == 64 ? 2 : 1;
template <typename T> constexpr int64_t kTileLanes = kTileRegisters * Lanes<T>::inRegister;

/// Calls body(first row, row count as a constant) for groups of eight, then four, then one row.
template <typename Body> inline void forEachTile(int64_t rows, Body &&body) {
  int64_t row = 0;
  for (; row + 8 <= rows; row += 8)
    body(row, std::integral_constant<int, 8>());
  for (; row + 4 <= rows; row += 4)
    body(row, std::integral_constant<int, 4>());
  for (; row < rows; ++row)
    body(row, std::integral_constant<int, 1>());
}

/// C[rows, lanes] = L A for `count` rows in panels; C holds whole panels.
template <typename T>
void multiplyRowPanels(const T *panels, int64_t count, int64_t depth, const T *a, T *c) {
  constexpr int64_t block = Lanes<T>::block;
  for (int64_t row = 0; row < count; row += kPanelRows)
    for (int64_t lane = 0; lane < block; lane += kTileLanes<T>) {
      Tile<T, kPanelRows, kTileRegisters> tile;
      tile.clear();
      for (int64_t d = 0; d < depth; ++d)
        tile.template add<1>(panels + row * depth + d * kPanelRows, a + d * block + lane);
      tile.store(c + row * block + lane, block);
    }
}

/// C[depth, lanes] += L' A for `count` rows and A[rows, lanes].
template <typename T>
void addTransposed(const T *panels, int64_t count, int64_t depth, const T *a, T *c) {
  constexpr int64_t block = Lanes<T>::block;
  forEachTile(depth, [&](int64_t d, auto rows) {
    for (int64_t lane = 0; lane < block; lane += kTileLanes<T>) {
      Tile<T, decltype(rows)::value, kTileRegisters> tile;
      tile.clear();
      int64_t row = 0;
      for (; row + kPanelRows <= count; row += kPanelRows)
#pragma GCC unroll 8
        for (int64_t i = 0; i < kPanelRows; ++i)
          tile.template add<kPanelRows>(panels + (row * depth + d * kPanelRows) + i,
                                        a + (row + i) * block + lane);
      for (int64_t i = 0; row + i < count; ++i)
        tile.template add<kPanelRows>(panels + (row * depth + d * kPanelRows) + i,
                                      a + (row + i) * block + lane);
      tile.addTo(c + d * block + lane, block);
    }
  });
}

/// C[rows, width] += B A for B[rows, lanes], of which the first `depth` lanes count, and A[depth,
/// width]. `width` is a multiple of a register.
template <typename T>
void addRows(const T *b, int64_t rows, int64_t depth, const T *a, int64_t width, T *c) {
  constexpr int64_t block = Lanes<T>::block;
  forEachTile(rows, [&](int64_t row, auto count) {
    auto addColumns = [&](int64_t at, auto registers) {
      Tile<T, decltype(count)::value, decltype(registers)::value> tile;
      tile.clear();
      for (int64_t d = 0; d < depth; ++d)
        tile.template add<block>(b + row * block + d, a + d * width + at);
      tile.addTo(c + row * width + at, width);
    };
    int64_t at = 0;
    for (; at + kTileLanes<T> <= width; at += kTileLanes<T>)
      addColumns(at, std::integral_constant<int, kTileRegisters>());
    if (at < width)
      addColumns(at, std::integral_constant<int, 1>());
  });
}

} // namespace titan::rt
