// Products of floats on tiles: each number is multiplied as the sum of three bf16. Operands are
// packed by panels, which threads may share, and multiplied part by part of the result.
//
// Three bf16 hold all 24 bits of a float, but for numbers near the ends of the range. Of the nine
// products of such parts six are made; the others are about 2^-26 of the whole, where rounding it
// may be off by 2^-24 (G. Henry, P. Tang, A. Heinecke, "Leveraging the bfloat16 Artificial
// Intelligence Datatype For Higher-Precision Computations", 2019). A tile adds up 32 terms before
// they join the others, so that sums are rounded less often than a product of floats rounds them:
// the results are closer to the true ones than BLAS's (docs/rationale/kernels.md).
//
// What is infinite, or beyond bf16's largest number, makes its row or column infinite or NaN.
#pragma once

#include "Amx.h"

namespace titan::rt::amx {

/// Elements of bf16 of a packed panel: 32 lines, so many of depth.
int64_t panelElements(int64_t depth);

void packLeft(const FloatOperand &from, const Slice &part, uint16_t *to);
void packRight(const FloatOperand &from, const Slice &part, uint16_t *to);

/// C[m, n] = A B, added to C or not, from packed panels of a depth k > 0, on the calling thread. An
/// element's sum is a function of its row, its column and k alone.
void multiplyPanels(const uint16_t *a, const uint16_t *b, const Extents &extents, bool accumulate,
                    float *c, int64_t ldc);

} // namespace titan::rt::amx
