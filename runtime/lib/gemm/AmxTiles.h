// AMX microkernel and packing. Include this header only in translation units that are compiled for
// AMX and run where amx::isAvailable(). All functions are static: the linker must not pick an AMX
// copy for another caller.
//
// A tile is 16 rows of 64 bytes. TDPBF16PS adds to C[16, 16] (float) the product of A[16, 32] and
// B[32, 16]; each row of B holds 16 pairs of consecutive k. Eight tiles form C[32, 32] from two
// tiles of A and two of B, so each loaded tile is used twice: four loads of 8 cycles overlap four
// products of 16 (Intel 64 and IA-32 Architectures Optimization Reference Manual, chapter on AMX,
// which the packing follows too).
//
// A packed panel has 32 rows (of A, or of B transposed). For each k-step of 32 and each bf16 term,
// it stores the tile of the first 16 rows and the tile of the other 16. Elements beyond the operand
// are 0.
#pragma once

#include "Amx.h"
#include "Avx512Packing.h"

#include <cstdint>
#include <type_traits>

namespace titan::rt::amx {

constexpr int64_t kTileRows = 16, kTileElements = 512; // bf16 elements per tile
constexpr int64_t kStepElements = 2 * kTileElements;   // per bf16 term of a panel

/// The number of bf16 terms per element.
template <typename E> constexpr int64_t kTerms = 1;
template <> inline constexpr int64_t kTerms<float> = 3;

/// The operand of LDTILECFG: eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t bytesPerRow[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static constexpr TileConfig kAllFull; // in memory, because the intrinsic reads it from there

/// Packs one tile from (firstRow, firstK); `rows` and `kCount` remain from there. The left operand
/// is stored by rows, the right one by pairs of k.
template <bool isLeft>
TITAN_INLINED void packTile(const Operand &from, int64_t firstRow, int64_t rows, int64_t firstK,
                            int64_t kCount, uint16_t *to) {
  __m512i row[16];
  if (from.isKContiguous) {
    loadRows(from.data + firstRow * from.ld + firstK, from.ld, rows, kCount, row);
  } else {
    const uint16_t *at = from.data + firstK * from.ld + firstRow;
    const auto mask = static_cast<__mmask16>(firstBits(rows));
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      row[i] = loadStep(at + 2 * i * from.ld, from.ld, kCount - 2 * i, mask);
  }
  if (from.isKContiguous != isLeft)
    transpose(row);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    _mm512_store_si512(to + 32 * i, row[i]);
}

/// The same for floats: one tile per bf16 term.
template <bool isLeft>
TITAN_INLINED void packTile(const FloatOperand &from, int64_t firstRow, int64_t rows,
                            int64_t firstK, int64_t kCount, uint16_t *to) {
  auto split = [&](auto isInterleaved, int i, __m512 x, __m512 y) {
#pragma GCC unroll 3
    for (int64_t term = 0; term < kTerms<float>; ++term)
      _mm512_store_si512(to + term * kStepElements + 32 * i,
                         takeBf16<decltype(isInterleaved)::value>(x, y));
  };
  if (from.isKContiguous) {
    const float *at = from.data + firstRow * from.ld + firstK;
    const uint32_t mask = firstBits(kCount);
    const auto first = static_cast<__mmask16>(mask), second = static_cast<__mmask16>(mask >> 16);
    for (int i = 0; i < 16; ++i) {
      const float *row = at + i * from.ld;
      split(std::false_type(), i, _mm512_maskz_loadu_ps(i < rows ? first : 0, row),
            _mm512_maskz_loadu_ps(i < rows ? second : 0, row + 16));
    }
  } else {
    const float *at = from.data + firstK * from.ld + firstRow;
    const auto mask = static_cast<__mmask16>(firstBits(rows));
    for (int i = 0; i < 16; ++i) {
      const float *row = at + 2 * i * from.ld;
      split(std::true_type(), i, _mm512_maskz_loadu_ps(2 * i < kCount ? mask : 0, row),
            _mm512_maskz_loadu_ps(2 * i + 1 < kCount ? mask : 0, row + from.ld));
    }
  }
  if (from.isKContiguous != isLeft)
    for (int64_t term = 0; term < kTerms<float>; ++term) {
      uint16_t *tile = to + term * kStepElements;
      __m512i row[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i)
        row[i] = _mm512_load_si512(tile + 32 * i);
      transpose(row);
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i)
        _mm512_store_si512(tile + 32 * i, row[i]);
    }
}

/// Packs panels of `rows` rows from `firstRow` and `kCount` elements of k from `firstK`.
template <bool isLeft, typename E>
static void packPanels(const OperandOf<E> &from, int64_t firstRow, int64_t rows, int64_t firstK,
                       int64_t kCount, uint16_t *to) {
  const int64_t steps = (kCount + kPanel - 1) / kPanel, panels = (rows + kPanel - 1) / kPanel;
  auto packStep = [&](int64_t panel, int64_t step) {
    uint16_t *tile = to + (panel * steps + step) * kTerms<E> * kStepElements;
    for (int64_t at = panel * kPanel; at < (panel + 1) * kPanel; at += kTileRows) {
      packTile<isLeft>(from, firstRow + at, rows - at, firstK + step * kPanel,
                       kCount - step * kPanel, tile);
      tile += kTileElements;
    }
  };
  if (from.isKContiguous) // memory order
    for (int64_t panel = 0; panel < panels; ++panel)
      for (int64_t step = 0; step < steps; ++step)
        packStep(panel, step);
  else
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t panel = 0; panel < panels; ++panel)
        packStep(panel, step);
}

/// Elements of a block C[32, 32] of sums.
constexpr int64_t kBlockElements = kPanel * kPanel;

/// Loads the accumulator tiles, or zeroes them.
TITAN_INLINED void loadSums(const float *from) {
  constexpr int64_t stride = kPanel * sizeof(float), below = kTileRows * kPanel;
  asm volatile("" ::: "memory"); // GCC does not know that tile loads read memory
  if (from) {
    _tile_loadd(0, from, stride);
    _tile_loadd(1, from + kTileRows, stride);
    _tile_loadd(2, from + below, stride);
    _tile_loadd(3, from + below + kTileRows, stride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
}

TITAN_INLINED void storeSums(float *to) {
  constexpr int64_t stride = kPanel * sizeof(float), below = kTileRows * kPanel;
  _tile_stored(0, to, stride);
  _tile_stored(1, to + kTileRows, stride);
  _tile_stored(2, to + below, stride);
  _tile_stored(3, to + below + kTileRows, stride);
}

TITAN_INLINED void loadLeft(const uint16_t *a) {
  _tile_loadd(4, a, 64);
  _tile_loadd(5, a + kTileElements, 64);
}

TITAN_INLINED void loadRight(const uint16_t *b) {
  _tile_stream_loadd(6, b, 64);
  _tile_stream_loadd(7, b + kTileElements, 64);
}

TITAN_INLINED void addLoaded() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

/// One k-step of bf16. Each load is as close to its first use as the other loads allow.
TITAN_INLINED void addStep(const uint16_t *a, const uint16_t *b) {
  _tile_stream_loadd(6, b, 64);
  _tile_loadd(4, a, 64);
  _tile_dpbf16ps(0, 4, 6);
  _tile_stream_loadd(7, b + kTileElements, 64);
  _tile_dpbf16ps(1, 4, 7);
  _tile_loadd(5, a + kTileElements, 64);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

/// One k-step of floats: six term products, ordered so that consecutive ones share an operand.
TITAN_INLINED void addFloatStep(const uint16_t *a, const uint16_t *b) {
  loadRight(b);
  loadLeft(a + 2 * kStepElements);
  addLoaded();
  loadLeft(a + kStepElements);
  addLoaded();
  loadRight(b + kStepElements);
  addLoaded();
  loadLeft(a);
  addLoaded();
  loadRight(b);
  addLoaded();
  loadRight(b + 2 * kStepElements);
  addLoaded();
}

/// Adds A B to the accumulator tiles over `steps` k-steps of bf16 or float panels. The panel of A
/// stays in L1 across calls; the panels of B stream through. `beside(step)` is work for the
/// otherwise idle vector units.
template <typename E = uint16_t, typename Beside>
TITAN_INLINED void addPanels(const uint16_t *a, const uint16_t *b, int64_t steps, Beside &&beside) {
  constexpr int64_t stride = kTerms<E> * kStepElements;
  for (int64_t step = 0; step < steps; ++step, a += stride, b += stride) {
    if constexpr (kTerms<E> == 1)
      addStep(a, b);
    else
      addFloatStep(a, b);
    beside(step);
  }
}

TITAN_INLINED void addPanels(const uint16_t *a, const uint16_t *b, int64_t steps) {
  addPanels(a, b, steps, [](int64_t) {});
}

} // namespace titan::rt::amx
