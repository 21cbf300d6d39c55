// Loads, transposition and splitting into bf16 terms of blocks of 16 x 16 32-bit elements in
// registers: floats, or pairs of bf16 with consecutive k. Include this header only in translation
// units that are compiled for AVX-512 and run where the processor has it.
#pragma once

#include "Inlined.h"

#include <cstdint>
#include <immintrin.h>

namespace titan::rt {

/// A mask of the first `count` lanes.
TITAN_INLINED uint32_t firstBits(int64_t count) {
  return count >= 32 ? ~uint32_t{0} : count <= 0 ? 0 : (uint32_t{1} << count) - 1;
}

/// Transposes 16 x 16 32-bit elements.
TITAN_INLINED void transpose(__m512i (&row)[16]) {
  __m512i pairs[16], quads[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(row[i], row[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(row[i], row[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) { // rows i .. i + 3, column 2j (then 2j + 1) of each lane
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

/// 16 K-major rows of bf16 from `at`, each with up to 16 32-bit elements. Elements beyond `rows`
/// and `kCount` are 0.
TITAN_INLINED void loadRows(const uint16_t *at, int64_t ld, int64_t rows, int64_t kCount,
                            __m512i (&row)[16]) {
  const uint32_t mask = firstBits(kCount);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    row[i] = _mm512_maskz_loadu_epi16(i < rows ? mask : 0, at + i * ld);
}

/// One k-step (two elements) of 16 adjacent rows, masked.
TITAN_INLINED __m512i loadStep(const uint16_t *at, int64_t ld, int64_t kCount, __mmask16 mask) {
  const __m256i even = _mm256_maskz_loadu_epi16(kCount > 0 ? mask : 0, at);
  const __m256i odd = _mm256_maskz_loadu_epi16(kCount > 1 ? mask : 0, at + ld);
  return _mm512_or_si512(_mm512_cvtepu16_epi32(even),
                         _mm512_slli_epi32(_mm512_cvtepu16_epi32(odd), 16));
}

/// The indices of the permutation that interleaves the halves of 32 16-bit elements.
struct alignas(64) Interleaving {
  constexpr Interleaving() {
    for (uint16_t i = 0; i < 32; ++i)
      from[i] = static_cast<uint16_t>(i / 2 + i % 2 * 16);
  }
  uint16_t from[32] = {};
};
static constexpr Interleaving kInterleaving;

/// Interleaves two vectors of 16 bf16: x[i] next to y[i].
TITAN_INLINED __m512i interleave(__m512bh both) {
  return _mm512_permutexvar_epi16(_mm512_load_si512(&kInterleaving),
                                  reinterpret_cast<__m512i>(both));
}

/// Splits the next bf16 term off 2 x 16 floats. The result holds the terms of x before those of y,
/// or interleaves them.
template <bool isInterleaved> TITAN_INLINED __m512i takeBf16(__m512 &x, __m512 &y) {
  const __m512bh both = _mm512_cvtne2ps_pbh(y, x);
  const __m512i pairs = interleave(both);
  x = _mm512_sub_ps(x, _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)));
  y = _mm512_sub_ps(y, _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(~0xffff))));
  return isInterleaved ? pairs : reinterpret_cast<__m512i>(both);
}

} // namespace titan::rt
