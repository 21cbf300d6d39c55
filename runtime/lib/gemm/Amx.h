// GEMM on AMX tiles: bf16 operands directly, f32 operands as sums of three bf16.
#pragma once

#include "Operands.h"

#include "titan/runtime/bfloat16.h"

#include <cstddef>
#include <cstdint>

namespace titan::rt::amx {

/// The processor has AMX, the system grants it to this process, and TITAN_BF16 does not disable it.
bool isAvailable();

/// Rows, columns and k of one block of C.
constexpr int64_t kPanel = 32;

using Operand = Bfloat16Operand;

/// Scratch bytes of one bf16 product, aligned to 64 bytes.
size_t scratchBytes(const Extents &extents);

/// C[m, n] = A[m, k] B[k, n] (or +=) on the calling thread. Sums are in float, in an order that
/// depends only on k. Subnormal inputs count as 0.
void multiply(const Operand &a, const Operand &b, const Extents &extents, bool accumulate, float *c,
              int64_t ldc, void *scratch);
void multiply(const Operand &a, const Operand &b, const Extents &extents, bool accumulate, bf16 *c,
              int64_t ldc, void *scratch);

} // namespace titan::rt::amx
