// Compiled for pairs of bf16 as well; what multiplies floats uses none, and runs without them.
#include "Avx512Panels.h"

namespace titan::rt::avx512 {

void packLeft(const FloatOperand &from, const Slice &part, int64_t rows, float *to) {
  packPanels<kRowPlaces>(from, part, rows, to);
}

void packLeft(const Bfloat16Operand &from, const Slice &part, int64_t rows, uint32_t *to) {
  packPanels<kRowPlaces>(from, part, rows, to);
}

void packRight(const FloatOperand &from, const Slice &part, float *to) {
  packPanels<kColumns>(from, part, kColumns, to);
}

void packRight(const Bfloat16Operand &from, const Slice &part, uint32_t *to) {
  packPanels<kColumns>(from, part, kColumns, to);
}

void multiplyPanels(const float *a, int64_t rows, const float *b, const Extents &extents,
                    const Destination<float> &c) {
  constexpr int64_t chunk = 256; // longer sums would err more
  multiplyAll(a, rows, b, extents, chunk, c);
}

void multiplyPanels(const uint32_t *a, int64_t rows, const uint32_t *b, const Extents &extents,
                    const Destination<float> &c) {
  multiplyAll(a, rows, b, extents, extents.k, c);
}

void multiplyPanels(const uint32_t *a, int64_t rows, const uint32_t *b, const Extents &extents,
                    const Destination<bf16> &c) {
  multiplyAll(a, rows, b, extents, extents.k, c);
}

} // namespace titan::rt::avx512
