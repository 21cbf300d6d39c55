// Squares of 16 x 16 elements of 32 bits in registers: numbers in float, or pairs of bf16 that
// follow each other in depth. For translation units that are compiled for AVX-512 and run where the
// processor has it alone. Everything is static, lest the linker take a function compiled for this
// processor for one that others call.
#pragma once

#include "Operands.h"

#include <cstdint>
#include <immintrin.h>

#define TITAN_SQUARES static inline __attribute__((always_inline))

namespace titan::rt {

/// A mask of the first so many lanes.
TITAN_SQUARES uint32_t firstBits(int64_t count) {
  return count >= 32 ? ~uint32_t{0} : count <= 0 ? 0 : (uint32_t{1} << count) - 1;
}

/// Exchanges rows and columns of 16 x 16 elements of 32 bits.
TITAN_SQUARES void transpose(__m512i (&row)[16]) {
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

/// The square from (line, depth) of an operand on; `lines` and `depths` are left there, the rest is
/// 0. Its rows are lines if they run along depth, and steps of depth otherwise.
TITAN_SQUARES void loadSquare(const FloatOperand &from, const Slice &part, __m512i (&row)[16]) {
  const int64_t rows = from.alongDepth ? part.lines : part.depths;
  const int64_t columns = from.alongDepth ? part.depths : part.lines;
  const float *at = from.data + (from.alongDepth ? part.line * from.ld + part.depth
                                                 : part.depth * from.ld + part.line);
  const auto there = static_cast<__mmask16>(firstBits(columns));
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    row[i] = _mm512_maskz_loadu_epi32(i < rows ? there : 0, at + i * from.ld);
}

TITAN_SQUARES void loadSquare(const Bfloat16Operand &from, const Slice &part, __m512i (&row)[16]) {
  if (from.alongDepth) {
    const uint16_t *at = from.data + part.line * from.ld + part.depth;
    const __mmask32 there = firstBits(part.depths);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      row[i] = _mm512_maskz_loadu_epi16(i < part.lines ? there : 0, at + i * from.ld);
  } else {
    const uint16_t *at = from.data + part.depth * from.ld + part.line;
    const auto there = static_cast<__mmask16>(firstBits(part.lines));
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const uint16_t *first = at + 2 * i * from.ld;
      __m256i even = _mm256_maskz_loadu_epi16(2 * i < part.depths ? there : 0, first);
      __m256i odd = _mm256_maskz_loadu_epi16(2 * i + 1 < part.depths ? there : 0, first + from.ld);
      row[i] = _mm512_or_si512(_mm512_cvtepu16_epi32(even),
                               _mm512_slli_epi32(_mm512_cvtepu16_epi32(odd), 16));
    }
  }
}

} // namespace titan::rt
