// Compiled for pairs of bf16 as well; what multiplies floats uses none, and runs without them.
#include "Avx512Panels.h"
#include "Avx512Thin.h"

namespace titan::rt::avx512 {

void packLeft(const FloatOperand &from, const Slice &part, int64_t rows, float *to) {
  packPanels<kRowPlaces>(from, part, rows, to);
}

void packLeft(const Bfloat16Operand &from, const Slice &part, int64_t rows, uint32_t *to) {
  packPanels<kRowPlaces>(from, part, rows, to);
}

void multiplyPanels(const float *a, int64_t rows, int64_t m, const FloatOperand &b,
                    const Slice &part, float *room, const Destination<float> &c) {
  packPanels<kColumns>(b, part, kColumns, room);
  multiplyAll<PackedRows<float>>(a, 0, rows, room, {m, part.lines, part.depths}, c);
}

void multiplyInPlace(const FloatOperand &a, const Slice &left, int64_t rows, const FloatOperand &b,
                     const Slice &part, float *room, const Destination<float> &c) {
  packPanels<kColumns>(b, part, kColumns, room);
  multiplyAll<RowsInPlace>(a.at(left.line, left.depth), a.ld, rows, room,
                           {left.lines, part.lines, part.depths}, c);
}

void multiplyPanels(const uint32_t *a, int64_t rows, int64_t m, const Bfloat16Operand &b,
                    const Slice &part, uint32_t *room, const Destination<float> &c) {
  packPanels<kColumns>(b, part, kColumns, room);
  multiplyAll<PackedRows<uint32_t>>(a, 0, rows, room, {m, part.lines, part.depths}, c);
}

void multiplyPanels(const uint32_t *a, int64_t rows, int64_t m, const Bfloat16Operand &b,
                    const Slice &part, uint32_t *room, const Destination<bf16> &c) {
  packPanels<kColumns>(b, part, kColumns, room);
  multiplyAll<PackedRows<uint32_t>>(a, 0, rows, room, {m, part.lines, part.depths}, c);
}

void multiplyFew(const float *a, int64_t m, const FloatOperand &b, const Slice &part,
                 const Destination<float> &c) {
  multiplyRowsOf(a, m, b, part, c);
}

void multiplyFew(const uint32_t *a, int64_t m, const Bfloat16Operand &b, const Slice &part,
                 const Destination<float> &c) {
  multiplyRowsOf(a, m, b, part, c);
}

void multiplyFew(const uint32_t *a, int64_t m, const Bfloat16Operand &b, const Slice &part,
                 const Destination<bf16> &c) {
  multiplyRowsOf(a, m, b, part, c);
}

} // namespace titan::rt::avx512
