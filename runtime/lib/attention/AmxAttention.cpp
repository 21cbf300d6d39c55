// MatrixUnit (gemm/MatrixUnit.h) on AMX tiles: the bf16 products of attention on processors with
// AMX.
#include "gemm/AmxTiles.h"
#include "gemm/MatrixUnit.h"

namespace titan::rt::amx {

namespace {

/// A float as high + low: its value rounded to bf16, and the rounded remainder.
struct Split {
  __m256i high, low;
};

/// 16 floats as sums of two bf16. Lanes outside `wanted`, and all lanes unless `isValid`, are 0 and
/// are not read.
Split split(const float *from, bool isValid, __mmask16 wanted) {
  const __m512 value = _mm512_maskz_loadu_ps(isValid ? wanted : 0, from);
  const __m256i high = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value));
  const __m512 rounded = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
  return {high, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_sub_ps(value, rounded)))};
}

/// Interleaves the elements of two k-rows, as tiles expect them.
__m512i interleave(__m256i even, __m256i odd) {
  return _mm512_or_si512(_mm512_cvtepu16_epi32(even),
                         _mm512_slli_epi32(_mm512_cvtepu16_epi32(odd), 16));
}

/// Multiplies a block of kBlockElements floats by `factor`.
void scale(float *block, float factor) {
  const __m512 factors = _mm512_set1_ps(factor);
  for (int64_t i = 0; i < kBlockElements; i += 16)
    _mm512_store_ps(block + i, _mm512_mul_ps(_mm512_load_ps(block + i), factors));
}

/// A block is the operand of one k-step.
class Tiles final : public MatrixUnit {
  static_assert(kUnitPanel == kPanel && kUnitBlockElements == kBlockElements &&
                kUnitBlockElements == kStepElements);

public:
  void begin() const override { _tile_loadconfig(&kAllFull); }
  void end() const override { _tile_release(); }

  void packLeft(const Operand &from, int64_t rows, int64_t depth, uint16_t *to) const override {
    packPanels<true>(from, 0, rows, 0, depth, to);
  }
  void packRight(const Operand &from, int64_t rows, int64_t depth, uint16_t *to) const override {
    packPanels<false>(from, 0, rows, 0, depth, to);
  }

  void splitDepth(const float *rows, int64_t count, const Halves &to) const override {
    const __mmask16 all = 0xffff;
    for (int64_t row = 0; row < unitPanels(count) * kPanel; row += 2)
      for (int64_t half = 0; half < 2; ++half) {
        const float *from = rows + row * kPanel + half * kTileRows;
        const Split even = split(from, row < count, all);
        const Split odd = split(from + kPanel, row + 1 < count, all);
        const int64_t at = row / kPanel * kStepElements + half * kTileElements + row % kPanel * 16;
        _mm512_store_si512(to.high + at, interleave(even.high, odd.high));
        _mm512_store_si512(to.low + at, interleave(even.low, odd.low));
      }
  }

  void splitRows(const float *rows, int64_t count, int64_t depth, const Halves &to) const override {
    const uint32_t wanted = firstBits(depth);
    for (int64_t row = 0; row < unitPanels(count) * kPanel; ++row)
      for (int64_t half = 0; half < 2; ++half) {
        const Split terms = split(rows + row * kPanel + half * 16, row < count,
                                  static_cast<__mmask16>(wanted >> 16 * half));
        const int64_t at = row * kPanel + half * 16; // the 16 rows of a tile are contiguous
        _mm256_store_si256(reinterpret_cast<__m256i *>(to.high + at), terms.high);
        _mm256_store_si256(reinterpret_cast<__m256i *>(to.low + at), terms.low);
      }
  }

  void multiply(const uint16_t *a, int64_t rows, const uint16_t *b, int64_t depth, float factor,
                float *c) const override {
    const int64_t steps = unitPanels(depth);
    for (int64_t i = 0; i < unitPanels(rows); ++i, c += kBlockElements) {
      loadSums(nullptr);
      addPanels(a + i * steps * kStepElements, b, steps);
      storeSums(c);
      if (factor != 1)
        scale(c, factor);
    }
  }

  void add(const uint16_t *a, int64_t rows, int64_t stride, const Halves &b, int64_t depth,
           float *c) const override {
    for (int64_t i = 0; i < unitPanels(rows); ++i) {
      loadSums(c + i * kBlockElements);
      addPanels(a + i * stride, b.high, unitPanels(depth));
      addPanels(a + i * stride, b.low, unitPanels(depth));
      storeSums(c + i * kBlockElements);
    }
  }

  void addAcross(const Halves &a, int64_t rows, int64_t, const uint16_t *b, int64_t columns,
                 int64_t stride, float *c) const override {
    for (int64_t i = 0; i < unitPanels(rows); ++i)
      for (int64_t j = 0; j < unitPanels(columns); ++j, c += kBlockElements) {
        loadSums(c);
        addPanels(a.high + i * kStepElements, b + j * stride, 1);
        addPanels(a.low + i * kStepElements, b + j * stride, 1);
        storeSums(c);
      }
  }
};

} // namespace

const MatrixUnit *matrixUnit() {
  static constexpr Tiles tiles;
  return &tiles;
}

} // namespace titan::rt::amx
