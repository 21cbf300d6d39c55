// Matrix products of bf16 on AMX's tiles: packing of operands and the innermost product. For
// translation units that are compiled for AMX and run where amx::isAvailable() alone. Everything is
// static, lest the linker take a function compiled for this processor for one that others call.
//
// A tile is 16 rows of 64 bytes. TDPBF16PS adds to C[16, 16] in float the product of A[16, 32] in
// rows and of B[32, 16], of which a row holds 16 pairs that follow each other in depth. Eight tiles
// make C[32, 32] from two of A and two of B, so that each loaded tile is used twice: four
// loads of 8 cycles are hidden behind four products of 16 (Intel 64 and IA-32 Architectures
// Optimization Reference Manual, chapter on AMX, which the packing follows too).
//
// Packed, 32 lines (rows of A or columns of B) are a panel: for each step of 32 in depth the tile
// of the first 16 lines and that of the others. What is missing is 0.
#pragma once

#include "Amx.h"

#include <cstdint>
#include <immintrin.h>

#define TITAN_TILES static inline __attribute__((always_inline))

namespace titan::rt::amx {

constexpr int64_t kTileLines = 16, kTileElements = 512; // bf16 a tile
constexpr int64_t kStepElements = 2 * kTileElements;    // of a panel

struct alignas(64) TileConfig {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t bytesPerRow[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static constexpr TileConfig kAllFull; // what the intrinsic reads must lie in memory already

/// Exchanges rows and columns of 16 x 16 elements of 32 bits.
TITAN_TILES void transpose(__m512i (&row)[16]) {
  __m512i pairs[16], quads[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(row[i], row[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(row[i], row[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) { // of rows i .. i + 3, column 2j (then 2j + 1) of each lane
      quads[i + 2 * j] = _mm512_unpacklo_epi64(pairs[i + j], pairs[i + 2 + j]);
      quads[i + 2 * j + 1] = _mm512_unpackhi_epi64(pairs[i + j], pairs[i + 2 + j]);
    }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) { // columns j, j + 4, j + 8, j + 12
    __m512i low = _mm512_shuffle_i32x4(quads[j], quads[4 + j], 0x88);
    __m512i high = _mm512_shuffle_i32x4(quads[8 + j], quads[12 + j], 0x88);
    row[j] = _mm512_shuffle_i32x4(low, high, 0x88);
    row[j + 8] = _mm512_shuffle_i32x4(low, high, 0xdd);
    low = _mm512_shuffle_i32x4(quads[j], quads[4 + j], 0xdd);
    high = _mm512_shuffle_i32x4(quads[8 + j], quads[12 + j], 0xdd);
    row[j + 4] = _mm512_shuffle_i32x4(low, high, 0x88);
    row[j + 12] = _mm512_shuffle_i32x4(low, high, 0xdd);
  }
}

TITAN_TILES uint32_t firstBits(int64_t count) {
  return count >= 32 ? ~uint32_t{0} : count <= 0 ? 0 : (uint32_t{1} << count) - 1;
}

/// One tile from (line, depth) of the operand on; `lines` and `depths` are left there.
template <bool isLeft>
TITAN_TILES void packTile(const Operand &from, int64_t line, int64_t lines, int64_t depth,
                          int64_t depths, uint16_t *to) {
  __m512i row[16];
  if (from.alongDepth) { // rows are lines, as the left operand wants them
    const uint16_t *at = from.data + line * from.ld + depth;
    const __mmask32 there = firstBits(depths);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      row[i] = _mm512_maskz_loadu_epi16(i < lines ? there : 0, at + i * from.ld);
  } else { // rows are pairs in depth, as the right operand wants them
    const uint16_t *at = from.data + depth * from.ld + line;
    const __mmask16 there = static_cast<__mmask16>(firstBits(lines));
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const uint16_t *first = at + 2 * i * from.ld;
      __m256i even = _mm256_maskz_loadu_epi16(2 * i < depths ? there : 0, first);
      __m256i odd = _mm256_maskz_loadu_epi16(2 * i + 1 < depths ? there : 0, first + from.ld);
      row[i] = _mm512_or_si512(_mm512_cvtepu16_epi32(even),
                               _mm512_slli_epi32(_mm512_cvtepu16_epi32(odd), 16));
    }
  }
  if (from.alongDepth != isLeft)
    transpose(row);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    _mm512_store_si512(to + 32 * i, row[i]);
}

/// Panels of the operand's `lines` from `line` on, each of the `depths` from `depth` on.
template <bool isLeft>
static void packPanels(const Operand &from, int64_t line, int64_t lines, int64_t depth,
                       int64_t depths, uint16_t *to) {
  const int64_t steps = (depths + kPanel - 1) / kPanel, panels = (lines + kPanel - 1) / kPanel;
  auto packStep = [&](int64_t panel, int64_t step) {
    uint16_t *tile = to + (panel * steps + step) * kStepElements;
    for (int64_t at = panel * kPanel; at < (panel + 1) * kPanel; at += kTileLines) {
      packTile<isLeft>(from, line + at, lines - at, depth + step * kPanel, depths - step * kPanel,
                       tile);
      tile += kTileElements;
    }
  };
  if (from.alongDepth) // in the order of memory
    for (int64_t panel = 0; panel < panels; ++panel)
      for (int64_t step = 0; step < steps; ++step)
        packStep(panel, step);
  else
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t panel = 0; panel < panels; ++panel)
        packStep(panel, step);
}

/// A block C[32, 32] of sums.
constexpr int64_t kSquare = kPanel * kPanel;

/// The tiles of sums, from memory or 0.
TITAN_TILES void loadSums(const float *from) {
  constexpr int64_t stride = kPanel * sizeof(float), below = kTileLines * kPanel;
  asm volatile("" ::: "memory"); // loads of tiles do not tell GCC that they read memory
  if (from) {
    _tile_loadd(0, from, stride);
    _tile_loadd(1, from + kTileLines, stride);
    _tile_loadd(2, from + below, stride);
    _tile_loadd(3, from + below + kTileLines, stride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
}

TITAN_TILES void storeSums(float *to) {
  constexpr int64_t stride = kPanel * sizeof(float), below = kTileLines * kPanel;
  _tile_stored(0, to, stride);
  _tile_stored(1, to + kTileLines, stride);
  _tile_stored(2, to + below, stride);
  _tile_stored(3, to + below + kTileLines, stride);
}

/// Adds A B to the tiles of sums for panels of so many steps. The panel of A is to stay in the
/// first cache from call to call, those of B pass through. `beside(step)` is work for the vector
/// units, which have nothing else to do meanwhile.
template <typename Beside>
TITAN_TILES void addPanels(const uint16_t *a, const uint16_t *b, int64_t steps, Beside &&beside) {
  for (int64_t step = 0; step < steps; ++step, a += kStepElements, b += kStepElements) {
    _tile_stream_loadd(6, b, 64);
    _tile_loadd(4, a, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_stream_loadd(7, b + kTileElements, 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + kTileElements, 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    beside(step);
  }
}

TITAN_TILES void addPanels(const uint16_t *a, const uint16_t *b, int64_t steps) {
  addPanels(a, b, steps, [](int64_t) {});
}

} // namespace titan::rt::amx
