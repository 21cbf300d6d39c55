// Cache-blocked GEMM; all threads pack and multiply. Backends: AMX tiles for floats (AmxFloat.h),
// vectors for floats and bf16 (VectorUnit.h).
#pragma once

#include "Operands.h"
#include "VectorUnit.h"

namespace titan::rt {

/// The f32 backend. AMX is used where it is available, not disabled by TITAN_BF16, and large enough
/// for packing to pay off. Otherwise vectors, otherwise BLAS (also by request). The choice depends
/// only on the extents.
enum class FloatBackend { Amx, Vectors, Blas };
FloatBackend chooseFloatBackend(const Extents &extents);

/// C[m, n] = A[m, k] B[k, n]. The result does not depend on the number of threads. On vectors, an
/// element depends only on its operands and k, not on m and n.
void multiplyOnTiles(const FloatOperand &a, const FloatOperand &b, const Extents &extents,
                     const Destination<float> &c);
void multiplyOnVectors(const FloatVectors &unit, const FloatOperand &a, const FloatOperand &b,
                       const Extents &extents, const Destination<float> &c);
/// bf16 operands, widened or as pairs; To is float or bf16.
template <typename P, typename To>
void multiplyOnVectors(const Bfloat16Vectors<P> &unit, const Bfloat16Operand &a,
                       const Bfloat16Operand &b, const Extents &extents, const Destination<To> &c);

} // namespace titan::rt
