#include "AmxFloat.h"

#include "AmxTiles.h"

namespace titan::rt::amx {

namespace {

/// The most k-steps between loads and stores of sums: that much of a panel of A stays in L1 while B
/// streams from L2.
constexpr int64_t kChunk = 5;

int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
int64_t quotientUp(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// A finished block that is being stored to C.
struct PendingStore {
  /// Stores one of `slices` slices of its rows.
  void storeSlice(int64_t slice, int64_t slices) const {
    for (int64_t r = slice * height / slices; r < (slice + 1) * height / slices; ++r) {
      const float *row = from + r * kPanel;
      store(_mm512_load_ps(row), static_cast<__mmask16>(mask), to + r * ldc);
      store(_mm512_load_ps(row + 16), static_cast<__mmask16>(mask >> 16), to + r * ldc + 16);
    }
  }
  void store(__m512 sums, __mmask16 wanted, float *at) const {
    if (accumulate)
      sums = _mm512_add_ps(sums, _mm512_maskz_loadu_ps(wanted, at));
    _mm512_mask_storeu_ps(at, wanted, sums);
  }
  const float *from;
  float *to;
  int64_t ldc, height;
  uint32_t mask; // columns
  bool accumulate;
};

} // namespace

int64_t panelElements(int64_t depth) {
  return quotientUp(depth, kPanel) * kTerms<float> * kStepElements;
}

void packLeft(const FloatOperand &from, const Slice &operandSlice, uint16_t *to) {
  packPanels<true>(from, operandSlice.firstRow, operandSlice.rows, operandSlice.firstK,
                   operandSlice.kCount, to);
}

void packRight(const FloatOperand &from, const Slice &operandSlice, uint16_t *to) {
  packPanels<false>(from, operandSlice.firstRow, operandSlice.rows, operandSlice.firstK,
                    operandSlice.kCount, to);
}

void multiplyPanels(const uint16_t *a, const uint16_t *b, const Extents &e, bool accumulate,
                    float *c, int64_t ldc) {
  const int64_t panel = panelElements(e.k), steps = quotientUp(e.k, kPanel);
  const int64_t chunks = quotientUp(steps, kChunk);
  alignas(64) float finished[kBlockElements];
  PendingStore pending{};
  _tile_loadconfig(&kAllFull);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t begin = chunk * steps / chunks, size = (chunk + 1) * steps / chunks - begin;
    const int64_t offset = begin * kTerms<float> * kStepElements;
    auto storePrevious = [&](int64_t step) { pending.storeSlice(step, size); };
    for (int64_t i = 0; i < e.m; i += kPanel)
      for (int64_t j = 0; j < e.n; j += kPanel) { // along rows of C, which span few pages
        loadSums(nullptr);
        addPanels<float>(a + i / kPanel * panel + offset, b + j / kPanel * panel + offset, size,
                         storePrevious);
        storeSums(finished);
        pending = {finished,           c + i * ldc + j,        ldc, least(kPanel, e.m - i),
                   firstBits(e.n - j), accumulate || chunk > 0};
      }
    pending.storeSlice(0, 1); // before the next chunk adds to it
    pending.height = 0;
  }
  _tile_release();
}

} // namespace titan::rt::amx
