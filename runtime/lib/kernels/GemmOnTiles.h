// Products of floats on the processor's tiles, by all threads (AmxFloat.h says how).
#pragma once

#include "Amx.h"

namespace titan::rt {

/// Whether there are tiles, TITAN_F32=blas does not ask to do without, and the product is large
/// enough either way that packing its operands pays. A function of the extents alone.
bool isFasterOnTiles(int64_t m, int64_t n, int64_t k);

/// C[m, n] = A[m, k] B[k, n], added to C or not. The same bits for any number of threads.
void multiplyOnTiles(const amx::FloatOperand &a, const amx::FloatOperand &b,
                     const amx::Extents &extents, bool accumulate, float *c, int64_t ldc);

} // namespace titan::rt
