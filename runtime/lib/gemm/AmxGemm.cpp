// GEMM of bf16 operands on AMX tiles (Amx.h). The blocking follows K. Goto and R. van de Geijn,
// "Anatomy of High-Performance Matrix Multiplication", 2008: one panel stays in L1 while the panels
// of the other operand stream from L2. C is read and written once; scratch holds its sums in
// between.
#include "AmxTiles.h"

namespace titan::rt::amx {

namespace {

// The packed panels and their sums fit in L2.
constexpr int64_t kChunk = 24;     // the most k-steps between loads and stores of sums
constexpr int64_t kMaxPanels = 16; // of either operand

int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
int64_t quotientUp(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// Division of k into chunks of equal numbers of k-steps.
struct Depth {
  explicit Depth(int64_t k)
      : k(k), chunks(quotientUp(k > 0 ? k : 1, kChunk * kPanel)),
        chunkDepth(quotientUp(quotientUp(k, kPanel), chunks) * kPanel) {}
  int64_t begin(int64_t chunk) const { return least(k, chunk * chunkDepth); }
  int64_t size(int64_t chunk) const { return begin(chunk + 1) - begin(chunk); }
  int64_t steps(int64_t chunk) const { return quotientUp(size(chunk), kPanel); }
  int64_t k, chunks, chunkDepth;
};

int64_t countPanels(int64_t rows) {
  return least(quotientUp(rows, kPanel), kMaxPanels);
}

/// Elements of the scratch regions.
struct ScratchSizes {
  explicit ScratchSizes(const Extents &e) {
    const Depth depth(e.k);
    a = countPanels(e.m) * kPanel * depth.chunkDepth;
    b = countPanels(e.n) * kPanel * depth.chunkDepth;
    sums = depth.chunks > 1 ? countPanels(e.m) * countPanels(e.n) * kBlockElements : 0;
  }
  int64_t a, b, sums;
};

/// Stores 32 masked numbers, or adds them to memory.
void store(__m512 low, __m512 high, uint32_t mask, bool accumulate, float *to) {
  const auto first = static_cast<__mmask16>(mask), second = static_cast<__mmask16>(mask >> 16);
  if (accumulate) {
    low = _mm512_add_ps(low, _mm512_maskz_loadu_ps(first, to));
    high = _mm512_add_ps(high, _mm512_maskz_loadu_ps(second, to + 16));
  }
  _mm512_mask_storeu_ps(to, first, low);
  _mm512_mask_storeu_ps(to + 16, second, high);
}

void store(__m512 low, __m512 high, uint32_t mask, bool accumulate, bf16 *to) {
  if (accumulate) {
    const __m512i old = _mm512_maskz_loadu_epi16(mask, to);
    auto widen = [](__m256i half) {
      return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
    };
    low = _mm512_add_ps(low, widen(_mm512_castsi512_si256(old)));
    high = _mm512_add_ps(high, widen(_mm512_extracti64x4_epi64(old, 1)));
  }
  _mm512_mask_storeu_epi16(to, mask, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
}

/// One product, computed in blocks of kMaxPanels panels by kMaxPanels panels of C.
template <typename To> class Gemm {
public:
  Gemm(const Operand &a, const Operand &b, const Extents &e, bool accumulate, To *c, int64_t ldc,
       void *scratch)
      : a(a), b(b), e(e), accumulate(accumulate), c(c), ldc(ldc), depth(e.k) {
    const ScratchSizes sizes(e);
    packedA = static_cast<uint16_t *>(scratch);
    packedB = packedA + sizes.a;
    sums = reinterpret_cast<float *>(packedB + sizes.b);
  }

  void run() {
    constexpr int64_t most = kMaxPanels * kPanel;
    for (column = 0; column < e.n; column += most)
      for (row = 0; row < e.m; row += most) {
        rows = least(most, e.m - row);
        columns = least(most, e.n - column);
        for (int64_t chunk = 0; chunk < depth.chunks; ++chunk)
          addChunk(chunk);
      }
  }

private:
  void addChunk(int64_t chunk) {
    const int64_t begin = depth.begin(chunk), size = depth.size(chunk), steps = depth.steps(chunk);
    packPanels<true>(a, row, rows, begin, size, packedA);
    packPanels<false>(b, column, columns, begin, size, packedB);
    const int64_t panelsA = quotientUp(rows, kPanel), panelsB = quotientUp(columns, kPanel);
    const bool isLast = chunk + 1 == depth.chunks;
    for (int64_t i = 0; i < panelsA; ++i)
      for (int64_t j = 0; j < panelsB; ++j) { // along rows of C, which span few pages
        float *sum = sums + (i * panelsB + j) * kBlockElements;
        if (steps == 0) // k = 0: no k-step overlaps the store
          pending.storeSlice(0, 1);
        auto storePrevious = [&](int64_t step) { pending.storeSlice(step, steps); };
        loadSums(chunk == 0 ? nullptr : sum);
        addPanels(packedA + i * steps * kStepElements, packedB + j * steps * kStepElements, steps,
                  storePrevious);
        storeSums(isLast ? finished : sum);
        if (isLast)
          pending = makePending(finished, row + i * kPanel, column + j * kPanel);
      }
    pending.storeSlice(0, 1);
    pending.height = 0;
  }

  /// A finished block that is being stored to C.
  struct PendingStore {
    /// Stores one of `slices` slices of its rows.
    void storeSlice(int64_t slice, int64_t slices) const {
      for (int64_t r = slice * height / slices; r < (slice + 1) * height / slices; ++r)
        store(_mm512_load_ps(from + r * kPanel), _mm512_load_ps(from + r * kPanel + 16), mask,
              accumulate, to + r * ldc);
    }
    const float *from;
    To *to;
    int64_t ldc, height;
    uint32_t mask; // columns
    bool accumulate;
  };

  PendingStore makePending(const float *from, int64_t i, int64_t j) const {
    return {from, c + i * ldc + j, ldc, least(kPanel, e.m - i), firstBits(e.n - j), accumulate};
  }

  const Operand a, b;
  const Extents e;
  const bool accumulate;
  To *const c;
  const int64_t ldc;
  const Depth depth;
  uint16_t *packedA, *packedB; // panels of a chunk: [panel][k-step]
  float *sums;                 // [panel of A][panel of B][32][32]
  int64_t row, rows, column, columns;
  PendingStore pending{};
  alignas(64) float finished[kBlockElements];
};

} // namespace

size_t scratchBytes(const Extents &extents) {
  const ScratchSizes sizes(extents);
  return static_cast<size_t>(sizes.a + sizes.b) * sizeof(uint16_t) +
         static_cast<size_t>(sizes.sums) * sizeof(float);
}

template <typename To>
static void multiplyTo(const Operand &a, const Operand &b, const Extents &extents, bool accumulate,
                       To *c, int64_t ldc, void *scratch) {
  _tile_loadconfig(&kAllFull);
  Gemm<To>(a, b, extents, accumulate, c, ldc, scratch).run();
  _tile_release();
}

void multiply(const Operand &a, const Operand &b, const Extents &extents, bool accumulate, float *c,
              int64_t ldc, void *scratch) {
  multiplyTo(a, b, extents, accumulate, c, ldc, scratch);
}

void multiply(const Operand &a, const Operand &b, const Extents &extents, bool accumulate, bf16 *c,
              int64_t ldc, void *scratch) {
  multiplyTo(a, b, extents, accumulate, c, ldc, scratch);
}

} // namespace titan::rt::amx
