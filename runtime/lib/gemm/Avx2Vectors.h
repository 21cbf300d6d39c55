// 256-bit vectors for VectorPanels.h. AVX2 has no 16-bit masks and its masked stores are slow, so
// partial vectors take a separate path.
#pragma once

#include "VectorUnit.h"

#include <cstdint>
#include <cstring>
#include <immintrin.h>

namespace titan::rt {

struct Avx2 {
  using Floats = __m256;
  using Words = __m256i;                // packed 32-bit elements
  static constexpr int64_t width = 8;   // lanes per vector, of both types
  static constexpr int64_t maxRows = 6; // MR: sums of two vectors per row fit in registers
  static constexpr int64_t vectorsForFewRows = 4; // per row: sums for three rows fit in registers

  // Panels of A per panel of B: the 24 KiB panel of B stays in L1, these panels of A in L2.
  static constexpr int64_t panelsAtOnce = 16;
  using Valid = int64_t; // number of valid lanes, from the first
  TITAN_INLINED Valid firstLanes(int64_t count) { return count; }

  TITAN_INLINED Floats zero() { return _mm256_setzero_ps(); }
  TITAN_INLINED Floats load(const float *at) { return _mm256_load_ps(at); }
  TITAN_INLINED Floats asFloats(Words words) { return _mm256_castsi256_ps(words); }
  TITAN_INLINED void store(void *to, Words words) {
    _mm256_store_si256(static_cast<Words *>(to), words);
  }

  /// Transposes 8 x 8 32-bit elements.
  TITAN_INLINED void transpose(Words (&row)[width]) {
    Floats pairs[8], quads[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
      pairs[i] = _mm256_unpacklo_ps(asFloats(row[i]), asFloats(row[i + 1]));
      pairs[i + 1] = _mm256_unpackhi_ps(asFloats(row[i]), asFloats(row[i + 1]));
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) { // rows i .. i + 3, column 2j (then 2j + 1) of each half
        quads[i + 2 * j] = _mm256_shuffle_ps(pairs[i + j], pairs[i + 2 + j], 0x44);
        quads[i + 2 * j + 1] = _mm256_shuffle_ps(pairs[i + j], pairs[i + 2 + j], 0xee);
      }
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) { // columns j and j + 4
      row[j] = _mm256_castps_si256(_mm256_permute2f128_ps(quads[j], quads[4 + j], 0x20));
      row[j + 4] = _mm256_castps_si256(_mm256_permute2f128_ps(quads[j], quads[4 + j], 0x31));
    }
  }

  /// Eight consecutive elements, converted to P, the elements of panels: always float here. Invalid
  /// lanes are 0.
  template <typename P> TITAN_INLINED Words loadContiguous(const float *at, Valid valid) {
    return _mm256_castps_si256(loadSome(at, valid));
  }
  template <typename P> TITAN_INLINED Words loadContiguous(const uint16_t *at, Valid valid) {
    return _mm256_slli_epi32(_mm256_cvtepu16_epi32(loadSome(at, valid)), 16);
  }
  /// One k-step of adjacent rows. It is one element deep, so the stride and the number of valid
  /// elements of k are unused.
  template <typename P, typename E>
  TITAN_INLINED Words loadStep(const E *at, int64_t /*ld*/, int64_t /*kCount*/, Valid valid) {
    return loadContiguous<P>(at, valid);
  }

  TITAN_INLINED Floats addProduct(Floats sum, float row, Floats columns) {
    return _mm256_fmadd_ps(_mm256_set1_ps(row), columns, sum);
  }

  /// Adds the unrounded sums of earlier blocks of k (c.sums) and the previous value (c.adds) where
  /// asked, and stores.
  template <typename P>
  TITAN_INLINED void store(Floats sum, Valid valid, const Destination<float> &c) {
    if (c.adds)
      sum = _mm256_add_ps(sum, loadSome(c.to, valid));
    if (valid >= width)
      _mm256_storeu_ps(c.to, sum);
    else
      _mm256_maskstore_ps(c.to, mask(valid), sum);
  }
  template <typename P>
  TITAN_INLINED void store(Floats sum, Valid valid, const Destination<bf16> &c) {
    if (c.sums)
      sum = _mm256_add_ps(sum, loadSome(c.sums, valid));
    if (c.adds)
      sum = _mm256_add_ps(sum, asFloats(loadContiguous<P>(&c.to->bits, valid)));
    storeSome(&c.to->bits, valid, round(sum));
  }

private:
  TITAN_INLINED __m256i mask(Valid valid) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const int count = valid > 0 ? static_cast<int>(valid) : 0;
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes);
  }
  TITAN_INLINED Floats loadSome(const float *at, Valid valid) {
    return valid >= width ? _mm256_loadu_ps(at) : _mm256_maskload_ps(at, mask(valid));
  }
  TITAN_INLINED __m128i loadSome(const uint16_t *at, Valid valid) {
    if (valid >= width)
      return _mm_loadu_si128(reinterpret_cast<const __m128i_u *>(at));
    alignas(16) uint16_t some[width] = {};
    if (valid > 0)
      std::memcpy(some, at, static_cast<size_t>(valid) * sizeof(uint16_t));
    return _mm_load_si128(reinterpret_cast<const __m128i *>(some));
  }
  TITAN_INLINED void storeSome(uint16_t *to, Valid valid, __m128i numbers) {
    if (valid >= width)
      return _mm_storeu_si128(reinterpret_cast<__m128i_u *>(to), numbers);
    alignas(16) uint16_t some[width];
    _mm_store_si128(reinterpret_cast<__m128i *>(some), numbers);
    if (valid > 0)
      std::memcpy(to, some, static_cast<size_t>(valid) * sizeof(uint16_t));
  }

  /// Rounds like bf16.
  TITAN_INLINED __m128i round(Floats sum) {
    const Words bits = _mm256_castps_si256(sum), upper = _mm256_srli_epi32(bits, 16);
    const Words odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    const Words half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    const Words rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
    const Words quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
    const Words isNan = _mm256_castps_si256(_mm256_cmp_ps(sum, sum, _CMP_UNORD_Q));
    const Words chosen = _mm256_blendv_epi8(rounded, quiet, isNan);
    return _mm_packus_epi32(_mm256_castsi256_si128(chosen), _mm256_extracti128_si256(chosen, 1));
  }
};

} // namespace titan::rt
