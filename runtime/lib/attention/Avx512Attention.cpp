// Attention's products on vectors: pairs of bf16, as in VectorPanels.h, 8 lines of the left operand
// against one or two vectors of lanes.
#include "gemm/Avx512Vectors.h"
#include "gemm/MatrixUnit.h"
#include "gemm/VectorPanels.h"

namespace titan::rt::avx512 {

namespace {

constexpr int kLines = 8; // whose sums stay in registers
constexpr int64_t kPlaces = kUnitPanel, kLine = kUnitPanel / 2, kBlock = kPlaces * kLine; // pairs

template <int Vectors> using Sums = __m512[kLines][Vectors];

template <int Vectors> TITAN_INLINED void clear(Sums<Vectors> &sums) {
#pragma GCC unroll 8
  for (int r = 0; r < kLines; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      sums[r][v] = _mm512_setzero_ps();
}

template <int Vectors> TITAN_INLINED void store(const Sums<Vectors> &sums, float factor, float *c) {
#pragma GCC unroll 8
  for (int r = 0; r < kLines; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      _mm512_store_ps(c + r * kUnitPanel + 16 * v,
                      _mm512_mul_ps(sums[r][v], _mm512_set1_ps(factor)));
}

/// Sums of a block join those of the blocks before, as in Panel.h.
template <int Vectors> TITAN_INLINED void addTo(const Sums<Vectors> &sums, float *c) {
#pragma GCC unroll 8
  for (int r = 0; r < kLines; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      float *at = c + r * kUnitPanel + 16 * v;
      _mm512_store_ps(at, _mm512_add_ps(_mm512_load_ps(at), sums[r][v]));
    }
}

/// Adds a step: lines so many pairs apart, times rows of lanes, one or two to whose sum it goes.
template <int64_t Apart, int Rows, int Vectors>
TITAN_INLINED void addStep(Sums<Vectors> &sums, const uint32_t *lines,
                           const uint32_t *const (&rows)[Rows]) {
  __m512 lanes[Rows][Vectors];
#pragma GCC unroll 2
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      lanes[i][v] = _mm512_load_ps(rows[i] + 16 * v);
#pragma GCC unroll 8
  for (int r = 0; r < kLines; ++r)
#pragma GCC unroll 2
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v)
        sums[r][v] = Avx512::addProduct(sums[r][v], lines[r * Apart], lanes[i][v]);
}

const uint32_t *pairsOf(const uint16_t *packed) {
  return reinterpret_cast<const uint32_t *>(packed);
}

/// 8 lines from `line` on of panels so many elements apart, whose places follow each other.
const uint32_t *placesAt(const uint16_t *packed, int64_t line, int64_t panel) {
  return pairsOf(packed + line / kUnitPanel * panel) + line % kUnitPanel;
}
/// The same where a block's lines do.
const uint32_t *linesAt(const uint16_t *packed, int64_t line, int64_t panel) {
  return pairsOf(packed + line / kUnitPanel * panel) + line % kUnitPanel * kLine;
}

/// A block's places: 32 lines for each of at most 16 steps.
void packBlock(const Bfloat16Operand &from, int64_t line, int64_t lines, int64_t depth,
               int64_t depths, uint16_t *to) {
  for (int64_t place = 0; place < kPlaces; place += 16)
    packSquare<Avx512>(from.at(line + place, depth), from.ld, from.alongDepth, lines - place,
                       depths, reinterpret_cast<uint32_t *>(to) + place, kPlaces);
}

/// Whole lines, as they lie in memory.
void copyLines(const Bfloat16Operand &from, int64_t lines, int64_t depth, uint16_t *to) {
  const int64_t blocks = unitPanels(depth);
  for (int64_t line = 0; line < quotientUp(lines, kLines) * kLines; ++line)
    for (int64_t block = 0; block < blocks; ++block) {
      const uint32_t there = line < lines ? firstBits(depth - block * kUnitPanel) : 0;
      _mm512_store_si512(to + (line / kUnitPanel * blocks + block) * kUnitSquare +
                             line % kUnitPanel * kUnitPanel,
                         _mm512_maskz_loadu_epi16(there, from.at(line, block * kUnitPanel)));
    }
}

/// C += A B for 8 lines of weights and columns of one or two vectors.
template <int Vectors>
void addWeights(const Halves &a, int64_t line, int64_t steps, const uint32_t *b, float *c) {
  const uint32_t *high = linesAt(a.high, line, kUnitSquare);
  const uint32_t *low = linesAt(a.low, line, kUnitSquare);
  Sums<Vectors> sums;
  clear<Vectors>(sums);
#pragma GCC unroll 2
  for (int64_t step = 0; step < steps; ++step) {
    const uint32_t *const rows[] = {b + step * kPlaces};
    addStep<kLine>(sums, high + step, rows);
    addStep<kLine>(sums, low + step, rows);
  }
  addTo<Vectors>(sums, c);
}

/// A step is a pair. Blocks hold 32 places for each of 16 steps, where lines are broadcast along
/// their depth 16 steps of each of 32 lines, which need not be turned.
class Pairs final : public MatrixUnit {
public:
  void begin() const override {}
  void end() const override {}

  void packLeft(const Bfloat16Operand &from, int64_t lines, int64_t depth,
                uint16_t *to) const override {
    if (from.alongDepth)
      copyLines(from, lines, depth, to);
    else
      packRight(from, lines, depth, to);
  }

  void packRight(const Bfloat16Operand &from, int64_t lines, int64_t depth,
                 uint16_t *to) const override {
    const int64_t panels = unitPanels(lines), blocks = unitPanels(depth);
    auto pack = [&](int64_t panel, int64_t block) {
      const int64_t line = panel * kUnitPanel, deep = block * kUnitPanel;
      packBlock(from, line, lines - line, deep, depth - deep,
                to + (panel * blocks + block) * kUnitSquare);
    };
    if (from.alongDepth) // in the order of memory
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
        const __mmask16 isThere = row + 1 < count ? 0xffff : 0;
        __m512 even = _mm512_load_ps(rows + half);
        __m512 odd = _mm512_maskz_load_ps(isThere, rows + kUnitPanel + half);
        const int64_t at = row * kUnitPanel + 2 * half;
        _mm512_store_si512(to.high + at, takePart<true>(even, odd));
        _mm512_store_si512(to.low + at, takePart<true>(even, odd));
      }
  }

  void splitLines(const float *rows, int64_t count, int64_t depth,
                  const Halves &to) const override {
    const uint32_t there = firstBits(depth);
    for (int64_t row = 0; row < quotientUp(count, kLines) * kLines; ++row) {
      const uint32_t wanted = row < count ? there : 0;
      const float *from = rows + row * kUnitPanel;
      __m512 first = _mm512_maskz_load_ps(static_cast<__mmask16>(wanted), from);
      __m512 second = _mm512_maskz_load_ps(static_cast<__mmask16>(wanted >> 16), from + 16);
      _mm512_store_si512(to.high + row * kUnitPanel, takePart<false>(first, second));
      _mm512_store_si512(to.low + row * kUnitPanel, takePart<false>(first, second));
    }
  }

  void multiply(const uint16_t *a, int64_t lines, const uint16_t *b, int64_t depth, float factor,
                float *c) const override {
    const int64_t panel = unitPanels(depth) * kUnitSquare;
    for (int64_t line = 0; line < lines; line += kLines) {
      const uint32_t *from = linesAt(a, line, panel), *lanes = pairsOf(b);
      Sums<2> sums;
      clear<2>(sums);
      for (int64_t steps = quotientUp(depth, 2); steps > 0; steps -= kLine, from += kBlock) {
        const int64_t end = least(kLine, steps);
#pragma GCC unroll 2
        for (int64_t step = 0; step < end; ++step, lanes += kPlaces) {
          const uint32_t *const rows[] = {lanes};
          addStep<kLine>(sums, from + step, rows);
        }
      }
      store<2>(sums, factor, c + line * kUnitPanel);
    }
  }

  void add(const uint16_t *a, int64_t lines, int64_t stride, const Halves &b, int64_t depth,
           float *c) const override {
    const int64_t steps = quotientUp(depth, 2);
    for (int64_t line = 0; line < lines; line += kLines) {
      const uint32_t *from = placesAt(a, line, stride);
      Sums<2> sums;
      clear<2>(sums);
#pragma GCC unroll 2
      for (int64_t step = 0; step < steps; ++step) {
        const uint32_t *const rows[] = {pairsOf(b.high) + step * kPlaces,
                                        pairsOf(b.low) + step * kPlaces};
        addStep<1>(sums, from + step * kPlaces, rows);
      }
      addTo<2>(sums, c + line * kUnitPanel);
    }
  }

  void addAcross(const Halves &a, int64_t lines, int64_t depth, const uint16_t *b, int64_t columns,
                 int64_t stride, float *c) const override {
    const int64_t panels = unitPanels(columns), steps = quotientUp(depth, 2);
    for (int64_t line = 0; line < lines; line += kLines)
      for (int64_t j = 0; j < panels; ++j) {
        float *to =
            c + (line / kUnitPanel * panels + j) * kUnitSquare + line % kUnitPanel * kUnitPanel;
        if (columns - j * kUnitPanel > 16)
          addWeights<2>(a, line, steps, pairsOf(b + j * stride), to);
        else
          addWeights<1>(a, line, steps, pairsOf(b + j * stride), to);
      }
  }
};

} // namespace

const MatrixUnit *matrixUnit() {
  static constexpr Pairs pairs;
  return &pairs;
}

void storeLines(const float *lanes, int64_t depth, float factor, bf16 *to, int64_t ld,
                int64_t lines) {
  const __m512 factors = _mm512_set1_ps(factor);
  for (int64_t d = 0; d < depth; d += 16)
    for (int64_t line = 0; line < lines; line += 16) {
      __m512i row[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i)
        row[i] = _mm512_loadu_si512(lanes + (d + i) * kUnitPanel + line);
      transpose(row);
      const auto there = static_cast<__mmask16>(firstBits(depth - d));
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i)
        if (line + i < lines) {
          const __m512 scaled = _mm512_mul_ps(_mm512_castsi512_ps(row[i]), factors);
          _mm256_mask_storeu_epi16(to + (line + i) * ld + d, there,
                                   reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(scaled)));
        }
    }
}

} // namespace titan::rt::avx512
