// Products of f32 and of bf16 on vectors of 512 bits, where the processor has them. Operands are
// packed by panels, which threads may share, and multiplied part by part of the result.
//
// Packed is an element of 32 bits: a float, or a pair of bf16 that follow each other in depth. A
// panel of a left operand has for each step of depth 16 places for at most 14 rows, one of a right
// operand 32 columns: 28 vectors of sums, two of columns and a row's broadcast element are what 32
// registers hold. What is missing of a panel's depth is 0.
#pragma once

#include "Operands.h"

#include "titan/runtime/bfloat16.h"

#include <cstdint>

namespace titan::rt::avx512 {

/// The processor multiplies floats so; and pairs of bf16 (which it takes for 0 below the normal
/// range, as tiles do), and faster, or TITAN_BF16 asks for them, and not to widen.
bool hasFloats();
bool hasBfloat16();

constexpr int64_t kMostRows = 14, kRowPlaces = 16, kColumns = 32;

void packLeft(const FloatOperand &from, const Slice &part, int64_t rows, float *to);
void packLeft(const Bfloat16Operand &from, const Slice &part, int64_t rows, uint32_t *to);

/// Most steps of depth that are added up before they join C: of floats as many as MKL takes, for
/// longer sums err more; of pairs, whose products are exact, as many as the caches like.
template <typename P> constexpr int64_t kMostSteps = 384;
template <> inline constexpr int64_t kMostSteps<uint32_t> = 512;

/// C[m, n] = A B from packed panels of so many rows and a part of B, on the calling thread. The
/// part's columns are packed first, into `room`, which holds them in whole panels.
void multiplyPanels(const float *a, int64_t rows, int64_t m, const FloatOperand &b,
                    const Slice &part, float *room, const Destination<float> &c);
void multiplyPanels(const uint32_t *a, int64_t rows, int64_t m, const Bfloat16Operand &b,
                    const Slice &part, uint32_t *room, const Destination<float> &c);
void multiplyPanels(const uint32_t *a, int64_t rows, int64_t m, const Bfloat16Operand &b,
                    const Slice &part, uint32_t *room, const Destination<bf16> &c);

/// The same, bit by bit, of rows that lie along the depth, which are read as they lie.
void multiplyInPlace(const FloatOperand &a, const Slice &left, int64_t rows, const FloatOperand &b,
                     const Slice &part, float *room, const Destination<float> &c);

/// The same, bit by bit, of at most three rows, whose columns are not packed.
constexpr int64_t kFewRows = 3;
void multiplyFew(const float *a, int64_t m, const FloatOperand &b, const Slice &part,
                 const Destination<float> &c);
void multiplyFew(const uint32_t *a, int64_t m, const Bfloat16Operand &b, const Slice &part,
                 const Destination<float> &c);
void multiplyFew(const uint32_t *a, int64_t m, const Bfloat16Operand &b, const Slice &part,
                 const Destination<bf16> &c);

/// lanes[depth, rounded up to 16][32], times a factor, back into lines that run along depth.
void storeLines(const float *lanes, int64_t depth, float factor, bf16 *to, int64_t ld,
                int64_t lines);

} // namespace titan::rt::avx512
