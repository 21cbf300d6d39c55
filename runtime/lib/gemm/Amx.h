// The processor's tiles (AMX), where it has them and the system grants them: they multiply bf16,
// and f32 as sums of three bf16.
#pragma once

#include "Operands.h"

#include "titan/runtime/bfloat16.h"

#include <cstddef>
#include <cstdint>

namespace titan::rt::amx {

/// The processor has them, the system lets this process use them, and TITAN_BF16 does not ask to do
/// without.
bool isAvailable();

/// Extent of the blocks that products are made of, in rows, columns and depth.
constexpr int64_t kPanel = 32;

using Operand = Bfloat16Operand;

/// Working memory of a product of bf16, aligned to 64 bytes.
size_t scratchBytes(const Extents &extents);

/// C[m, n] = A[m, k] B[k, n], added to C or not, on the calling thread. Sums are made in float,
/// each in an order that depends on k alone; numbers below the normal range count as 0.
void multiply(const Operand &a, const Operand &b, const Extents &extents, bool accumulate, float *c,
              int64_t ldc, void *scratch);
void multiply(const Operand &a, const Operand &b, const Extents &extents, bool accumulate, bf16 *c,
              int64_t ldc, void *scratch);

} // namespace titan::rt::amx
