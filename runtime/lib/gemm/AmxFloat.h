// f32 GEMM on AMX tiles. Each f32 element is the sum of three bf16 terms. Operands are packed into
// panels, which threads may share; C is computed tile by tile.
//
// Three bf16 hold all 24 significant bits of a float, except near the ends of the exponent range.
// Six of the nine term products are computed. The omitted ones contribute about 2^-26 of the
// result, and rounding alone contributes up to 2^-24 (G. Henry, P. Tang, A. Heinecke, "Leveraging
// the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations", 2019). A tile
// adds 32 terms before it rounds the sum, so the results are more accurate than those of BLAS
// (docs/rationale/kernels.md).
//
// An infinite element, or one beyond the largest bf16, makes its row or column infinite or NaN.
#pragma once

#include "Amx.h"

namespace titan::rt::amx {

/// bf16 elements of one packed panel: 32 rows of `depth`.
int64_t panelElements(int64_t depth);

void packLeft(const FloatOperand &from, const Slice &operandSlice, uint16_t *to);
void packRight(const FloatOperand &from, const Slice &operandSlice, uint16_t *to);

/// C[m, n] = A B (or +=) from packed panels with k > 0, on the calling thread. The sum of an
/// element depends only on its row, its column and k.
void multiplyPanels(const uint16_t *a, const uint16_t *b, const Extents &extents, bool accumulate,
                    float *c, int64_t ldc);

} // namespace titan::rt::amx
