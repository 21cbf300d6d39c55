#include "AmxFloat.h"

#include "AmxTiles.h"

namespace titan::rt::amx {

namespace {

/// Most steps between loads and stores of sums: of a panel of A so much stays in the first cache
/// while B passes from the second.
constexpr int64_t kChunk = 5;

int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
int64_t quotient(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// A finished square on its way to C.
struct Leaving {
  /// One of `parts` parts of its rows.
  void storeSome(int64_t part, int64_t parts) const {
    for (int64_t r = part * height / parts; r < (part + 1) * height / parts; ++r) {
      const float *row = from + r * kPanel;
      store(_mm512_load_ps(row), static_cast<__mmask16>(there), to + r * ldc);
      store(_mm512_load_ps(row + 16), static_cast<__mmask16>(there >> 16), to + r * ldc + 16);
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
  uint32_t there; // of the columns
  bool accumulate;
};

} // namespace

int64_t panelElements(int64_t depth) {
  return quotient(depth, kPanel) * kParts<float> * kStepElements;
}

void packLeft(const FloatOperand &from, const Slice &part, uint16_t *to) {
  packPanels<true>(from, part.line, part.lines, part.depth, part.depths, to);
}

void packRight(const FloatOperand &from, const Slice &part, uint16_t *to) {
  packPanels<false>(from, part.line, part.lines, part.depth, part.depths, to);
}

void multiplyPanels(const uint16_t *a, const uint16_t *b, const Extents &e, bool accumulate,
                    float *c, int64_t ldc) {
  const int64_t panel = panelElements(e.k), steps = quotient(e.k, kPanel);
  const int64_t chunks = quotient(steps, kChunk);
  alignas(64) float finished[kSquare];
  Leaving leaving{};
  _tile_loadconfig(&kAllFull);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t begin = chunk * steps / chunks, size = (chunk + 1) * steps / chunks - begin;
    const int64_t offset = begin * kParts<float> * kStepElements;
    auto storePrevious = [&](int64_t step) { leaving.storeSome(step, size); };
    for (int64_t i = 0; i < e.m; i += kPanel)
      for (int64_t j = 0; j < e.n; j += kPanel) { // along rows of C, which lie in few pages
        loadSums(nullptr);
        addPanels<float>(a + i / kPanel * panel + offset, b + j / kPanel * panel + offset, size,
                         storePrevious);
        storeSums(finished);
        leaving = {finished,           c + i * ldc + j,        ldc, least(kPanel, e.m - i),
                   firstBits(e.n - j), accumulate || chunk > 0};
      }
    leaving.storeSome(0, 1); // what the next chunk adds to
    leaving.height = 0;
  }
  _tile_release();
}

} // namespace titan::rt::amx
