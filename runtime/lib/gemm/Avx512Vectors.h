// 512-bit vectors for VectorPanels.h.
#pragma once

#include "Avx512Packing.h"
#include "VectorUnit.h"

namespace titan::rt {

struct Avx512 {
  using Floats = __m512;
  using Words = __m512i;                 // packed 32-bit elements
  static constexpr int64_t width = 16;   // lanes per vector, of both types
  static constexpr int64_t maxRows = 14; // MR: sums of two vectors per row fit in registers
  static constexpr int64_t vectorsForFewRows = 8; // per row: sums for three rows fit in registers

  // Panels of A per panel of B. A 48 KiB panel of B exceeds L1, so the panel of A stays in L1
  // instead.
  static constexpr int64_t panelsAtOnce = 1;
  using Valid = uint32_t; // mask of the valid lanes
  TITAN_INLINED Valid firstLanes(int64_t count) { return firstBits(count); }

  TITAN_INLINED Floats zero() { return _mm512_setzero_ps(); }
  TITAN_INLINED Floats load(const void *at) { return _mm512_load_ps(at); }
  TITAN_INLINED Floats asFloats(Words words) { return _mm512_castsi512_ps(words); }
  TITAN_INLINED void store(void *to, Words words) { _mm512_store_si512(to, words); }
  TITAN_INLINED void transpose(Words (&row)[width]) { titan::rt::transpose(row); }

  /// As many consecutive elements as a vector of P holds; invalid lanes are 0.
  template <typename P> TITAN_INLINED Words loadContiguous(const float *at, Valid valid) {
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(valid), at);
  }
  template <typename P> TITAN_INLINED Words loadContiguous(const uint16_t *at, Valid valid) {
    if constexpr (kDepthOfStep<P> == 2)
      return _mm512_maskz_loadu_epi16(valid, at);
    else
      return widen(_mm256_maskz_loadu_epi16(static_cast<__mmask16>(valid), at));
  }
  /// One k-step of adjacent rows; at least one element of k is valid.
  template <typename P>
  TITAN_INLINED Words loadStep(const float *at, int64_t, int64_t, Valid valid) {
    return loadContiguous<P>(at, valid);
  }
  template <typename P>
  TITAN_INLINED Words loadStep(const uint16_t *at, int64_t ld, int64_t kCount, Valid valid) {
    if constexpr (kDepthOfStep<P> == 2)
      return titan::rt::loadStep(at, ld, kCount, static_cast<__mmask16>(valid));
    else
      return loadContiguous<P>(at, valid);
  }

  TITAN_INLINED Floats addProduct(Floats sum, float row, Floats columns) {
    return _mm512_fmadd_ps(_mm512_set1_ps(row), columns, sum);
  }
  TITAN_INLINED Floats addProduct(Floats sum, uint32_t row, Floats columns) {
    return _mm512_dpbf16_ps(sum,
                            reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(row))),
                            reinterpret_cast<__m512bh>(columns));
  }

  /// Adds the previous value where asked, and stores.
  template <typename P>
  TITAN_INLINED void store(Floats sum, Valid valid, const Destination<float> &c) {
    const auto lanes = static_cast<__mmask16>(valid);
    if (c.adds)
      sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(lanes, c.to));
    _mm512_mask_storeu_ps(c.to, lanes, sum);
  }
  template <typename P>
  TITAN_INLINED void store(Floats sum, Valid valid, const Destination<bf16> &c) {
    const auto lanes = static_cast<__mmask16>(valid);
    if (c.sums)
      sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(lanes, c.sums));
    if (c.adds)
      sum = _mm512_add_ps(sum, asFloats(widen(_mm256_maskz_loadu_epi16(lanes, c.to))));
    _mm256_mask_storeu_epi16(c.to, lanes, round<P>(sum));
  }

private:
  TITAN_INLINED Words widen(__m256i numbers) {
    return _mm512_slli_epi32(_mm512_cvtepu16_epi32(numbers), 16);
  }
  /// Rounds like bf16; only processors with bf16 pair products have an instruction for that.
  template <typename P> TITAN_INLINED __m256i round(Floats sum) {
    if constexpr (kDepthOfStep<P> == 2)
      return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(sum));
    const Words bits = _mm512_castps_si512(sum), upper = _mm512_srli_epi32(bits, 16);
    const Words odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
    const Words half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
    const Words rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
    const __mmask16 isNan = _mm512_cmp_ps_mask(sum, sum, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(
        _mm512_mask_or_epi32(rounded, isNan, upper, _mm512_set1_epi32(0x40)));
  }
};

} // namespace titan::rt
