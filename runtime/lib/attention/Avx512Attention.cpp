// MatrixUnit (gemm/MatrixUnit.h) on AVX-512: the bf16 products of attention. A microkernel
// multiplies bf16 pairs of 8 rows of A by one or two vectors of lanes, as in gemm/VectorPanels.h.
#include "gemm/Avx512Vectors.h"
#include "gemm/MatrixUnit.h"
#include "gemm/VectorPanels.h"

namespace titan::rt::avx512 {

namespace {

constexpr int kBroadcastRows = 8; // rows whose sums stay in registers
constexpr int64_t kBlockRows = kUnitPanel, kRowPairs = kUnitPanel / 2,
                  kBlockPairs = kBlockRows * kRowPairs; // rows, pairs of a row, pairs of a block

template <int Vectors> using Sums = __m512[kBroadcastRows][Vectors];

template <int Vectors> TITAN_INLINED void clear(Sums<Vectors> &sums) {
#pragma GCC unroll 8
  for (int r = 0; r < kBroadcastRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      sums[r][v] = _mm512_setzero_ps();
}

template <int Vectors> TITAN_INLINED void store(const Sums<Vectors> &sums, float factor, float *c) {
#pragma GCC unroll 8
  for (int r = 0; r < kBroadcastRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      _mm512_store_ps(c + r * kUnitPanel + 16 * v,
                      _mm512_mul_ps(sums[r][v], _mm512_set1_ps(factor)));
}

/// Adds the sums of a block to those of earlier blocks, as in Panel.h.
template <int Vectors> TITAN_INLINED void addTo(const Sums<Vectors> &sums, float *c) {
#pragma GCC unroll 8
  for (int r = 0; r < kBroadcastRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      float *at = c + r * kUnitPanel + 16 * v;
      _mm512_store_ps(at, _mm512_add_ps(_mm512_load_ps(at), sums[r][v]));
    }
}

/// Adds one k-step: rows `Apart` pairs apart, times one or two rows of lanes.
template <int64_t Apart, int Rows, int Vectors>
TITAN_INLINED void addStep(Sums<Vectors> &sums, const uint32_t *broadcast,
                           const uint32_t *const (&laneRows)[Rows]) {
  __m512 lanes[Rows][Vectors];
#pragma GCC unroll 2
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      lanes[i][v] = _mm512_load_ps(laneRows[i] + 16 * v);
#pragma GCC unroll 8
  for (int r = 0; r < kBroadcastRows; ++r)
#pragma GCC unroll 2
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v)
        sums[r][v] = Avx512::addProduct(sums[r][v], broadcast[r * Apart], lanes[i][v]);
}

/// Packed bf16 as pairs of consecutive k.
const uint32_t *viewPairs(const uint16_t *packed) {
  return reinterpret_cast<const uint32_t *>(packed);
}

/// Eight rows from `firstRow` in panels of `panel` elements, where the rows of a k-step are
/// contiguous.
const uint32_t *pairsAt(const uint16_t *packed, int64_t firstRow, int64_t panel) {
  return viewPairs(packed + firstRow / kUnitPanel * panel) + firstRow % kUnitPanel;
}
/// The same where the k-steps of a row are contiguous.
const uint32_t *rowsAt(const uint16_t *packed, int64_t firstRow, int64_t panel) {
  return viewPairs(packed + firstRow / kUnitPanel * panel) + firstRow % kUnitPanel * kRowPairs;
}

/// Packs a block: 32 rows, of which missing ones are 0, for each of up to 16 k-steps.
void packBlock(const Bfloat16Operand &from, int64_t firstRow, int64_t rows, int64_t firstK,
               int64_t kCount, uint16_t *to) {
  for (int64_t offset = 0; offset < kBlockRows; offset += 16)
    packRegisterBlock<Avx512>(from.at(firstRow + offset, firstK), from.ld, from.isKContiguous,
                              rows - offset, kCount, reinterpret_cast<uint32_t *>(to) + offset,
                              kBlockRows);
}

/// Copies K-major rows into blocks without transposition.
void copyRows(const Bfloat16Operand &from, int64_t rows, int64_t depth, uint16_t *to) {
  const int64_t blocks = unitPanels(depth);
  for (int64_t row = 0; row < quotientUp(rows, kBroadcastRows) * kBroadcastRows; ++row)
    for (int64_t block = 0; block < blocks; ++block) {
      const uint32_t mask = row < rows ? firstBits(depth - block * kUnitPanel) : 0;
      _mm512_store_si512(to + (row / kUnitPanel * blocks + block) * kUnitBlockElements +
                             row % kUnitPanel * kUnitPanel,
                         _mm512_maskz_loadu_epi16(mask, from.at(row, block * kUnitPanel)));
    }
}

/// C += A B for 8 rows of weights and one or two vectors of columns.
template <int Vectors>
void addWeights(const Halves &a, int64_t firstRow, int64_t steps, const uint32_t *b, float *c) {
  const uint32_t *high = rowsAt(a.high, firstRow, kUnitBlockElements);
  const uint32_t *low = rowsAt(a.low, firstRow, kUnitBlockElements);
  Sums<Vectors> sums;
  clear<Vectors>(sums);
#pragma GCC unroll 2
  for (int64_t step = 0; step < steps; ++step) {
    const uint32_t *const laneRows[] = {b + step * kBlockRows};
    addStep<kRowPairs>(sums, high + step, laneRows);
    addStep<kRowPairs>(sums, low + step, laneRows);
  }
  addTo<Vectors>(sums, c);
}

/// A k-step is a pair. A block holds 32 rows for each of 16 k-steps. For operands whose rows are
/// broadcast along k, it holds 16 k-steps for each of 32 rows, which needs no transposition.
class Pairs final : public MatrixUnit {
public:
  void begin() const override {}
  void end() const override {}

  void packLeft(const Bfloat16Operand &from, int64_t rows, int64_t depth,
                uint16_t *to) const override {
    if (from.isKContiguous)
      copyRows(from, rows, depth, to);
    else
      packRight(from, rows, depth, to);
  }

  void packRight(const Bfloat16Operand &from, int64_t rows, int64_t depth,
                 uint16_t *to) const override {
    const int64_t panels = unitPanels(rows), blocks = unitPanels(depth);
    auto pack = [&](int64_t panel, int64_t block) {
      const int64_t firstRow = panel * kUnitPanel, firstK = block * kUnitPanel;
      packBlock(from, firstRow, rows - firstRow, firstK, depth - firstK,
                to + (panel * blocks + block) * kUnitBlockElements);
    };
    if (from.isKContiguous) // memory order
      for (int64_t panel = 0; panel < panels; ++panel)
        for (int64_t block = 0; block < blocks; ++block)
          pack(panel, block);
    else
      for (int64_t block = 0; block < blocks; ++block)
        for (int64_t panel = 0; panel < panels; ++panel)
          pack(panel, block);
  }

  void splitDepth(const float *rows, int64_t count, const Halves &to) const override {
    for (int64_t row = 0; row < count; row += 2, rows += 2 * kUnitPanel)
      for (int64_t half = 0; half < kUnitPanel; half += 16) {
        const __mmask16 oddMask = row + 1 < count ? 0xffff : 0;
        __m512 even = _mm512_load_ps(rows + half);
        __m512 odd = _mm512_maskz_load_ps(oddMask, rows + kUnitPanel + half);
        const int64_t at = row * kUnitPanel + 2 * half;
        _mm512_store_si512(to.high + at, takeBf16<true>(even, odd));
        _mm512_store_si512(to.low + at, takeBf16<true>(even, odd));
      }
  }

  void splitRows(const float *rows, int64_t count, int64_t depth, const Halves &to) const override {
    const uint32_t mask = firstBits(depth);
    for (int64_t row = 0; row < quotientUp(count, kBroadcastRows) * kBroadcastRows; ++row) {
      const uint32_t wanted = row < count ? mask : 0;
      const float *from = rows + row * kUnitPanel;
      __m512 first = _mm512_maskz_load_ps(static_cast<__mmask16>(wanted), from);
      __m512 second = _mm512_maskz_load_ps(static_cast<__mmask16>(wanted >> 16), from + 16);
      _mm512_store_si512(to.high + row * kUnitPanel, takeBf16<false>(first, second));
      _mm512_store_si512(to.low + row * kUnitPanel, takeBf16<false>(first, second));
    }
  }

  void multiply(const uint16_t *a, int64_t rows, const uint16_t *b, int64_t depth, float factor,
                float *c) const override {
    const int64_t panel = unitPanels(depth) * kUnitBlockElements;
    for (int64_t firstRow = 0; firstRow < rows; firstRow += kBroadcastRows) {
      const uint32_t *from = rowsAt(a, firstRow, panel), *lanes = viewPairs(b);
      Sums<2> sums;
      clear<2>(sums);
      for (int64_t steps = quotientUp(depth, 2); steps > 0;
           steps -= kRowPairs, from += kBlockPairs) {
        const int64_t end = least(kRowPairs, steps);
#pragma GCC unroll 2
        for (int64_t step = 0; step < end; ++step, lanes += kBlockRows) {
          const uint32_t *const laneRows[] = {lanes};
          addStep<kRowPairs>(sums, from + step, laneRows);
        }
      }
      store<2>(sums, factor, c + firstRow * kUnitPanel);
    }
  }

  void add(const uint16_t *a, int64_t rows, int64_t stride, const Halves &b, int64_t depth,
           float *c) const override {
    const int64_t steps = quotientUp(depth, 2);
    for (int64_t firstRow = 0; firstRow < rows; firstRow += kBroadcastRows) {
      const uint32_t *from = pairsAt(a, firstRow, stride);
      Sums<2> sums;
      clear<2>(sums);
#pragma GCC unroll 2
      for (int64_t step = 0; step < steps; ++step) {
        const uint32_t *const laneRows[] = {viewPairs(b.high) + step * kBlockRows,
                                            viewPairs(b.low) + step * kBlockRows};
        addStep<1>(sums, from + step * kBlockRows, laneRows);
      }
      addTo<2>(sums, c + firstRow * kUnitPanel);
    }
  }

  void addAcross(const Halves &a, int64_t rows, int64_t depth, const uint16_t *b, int64_t columns,
                 int64_t stride, float *c) const override {
    const int64_t panels = unitPanels(columns), steps = quotientUp(depth, 2);
    for (int64_t firstRow = 0; firstRow < rows; firstRow += kBroadcastRows)
      for (int64_t j = 0; j < panels; ++j) {
        float *to = c + (firstRow / kUnitPanel * panels + j) * kUnitBlockElements +
                    firstRow % kUnitPanel * kUnitPanel;
        if (columns - j * kUnitPanel > 16)
          addWeights<2>(a, firstRow, steps, viewPairs(b + j * stride), to);
        else
          addWeights<1>(a, firstRow, steps, viewPairs(b + j * stride), to);
      }
  }
};

} // namespace

const MatrixUnit *matrixUnit() {
  static constexpr Pairs pairs;
  return &pairs;
}

void storeRows(const float *lanes, int64_t depth, float factor, bf16 *to, int64_t ld,
               int64_t rows) {
  const __m512 factors = _mm512_set1_ps(factor);
  for (int64_t d = 0; d < depth; d += 16)
    for (int64_t firstRow = 0; firstRow < rows; firstRow += 16) {
      __m512i row[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i)
        row[i] = _mm512_loadu_si512(lanes + (d + i) * kUnitPanel + firstRow);
      transpose(row);
      const auto mask = static_cast<__mmask16>(firstBits(depth - d));
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i)
        if (firstRow + i < rows) {
          const __m512 scaled = _mm512_mul_ps(_mm512_castsi512_ps(row[i]), factors);
          _mm256_mask_storeu_epi16(to + (firstRow + i) * ld + d, mask,
                                   reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(scaled)));
        }
    }
}

} // namespace titan::rt::avx512
