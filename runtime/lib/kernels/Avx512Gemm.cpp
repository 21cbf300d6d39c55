// Compiled for pairs of bf16 as well; what multiplies floats uses none, and runs without them.
#include "Avx512Panels.h"
#include "Avx512Thin.h"

namespace titan::rt::avx512 {

// Most steps of a sum of floats, longer ones would err more; and of bf16, whose products are exact.
constexpr int64_t kChunk = 192, kAll = INT64_MAX / 2;

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
  multiplyAll(a, rows, b, extents, kChunk, c);
}

void multiplyPanels(const uint32_t *a, int64_t rows, const uint32_t *b, const Extents &extents,
                    const Destination<float> &c) {
  multiplyAll(a, rows, b, extents, kAll, c);
}

void multiplyPanels(const uint32_t *a, int64_t rows, const uint32_t *b, const Extents &extents,
                    const Destination<bf16> &c) {
  multiplyAll(a, rows, b, extents, kAll, c);
}

void multiplyFew(const float *a, int64_t m, const FloatOperand &b, const Slice &part,
                 const Destination<float> &c) {
  multiplyFew(a, m, b, part, kChunk, c);
}

void multiplyFew(const uint32_t *a, int64_t m, const Bfloat16Operand &b, const Slice &part,
                 const Destination<float> &c) {
  multiplyFew(a, m, b, part, kAll, c);
}

void multiplyFew(const uint32_t *a, int64_t m, const Bfloat16Operand &b, const Slice &part,
                 const Destination<bf16> &c) {
  multiplyFew(a, m, b, part, kAll, c);
}

} // namespace titan::rt::avx512
