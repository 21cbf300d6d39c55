// Products by blocks that all threads pack and multiply: of floats on the processor's tiles
// (AmxFloat.h), of floats and of bf16 on its vectors (VectorUnit.h).
#pragma once

#include "Operands.h"
#include "VectorUnit.h"

namespace titan::rt {

/// How floats are multiplied here: on tiles where there are some, TITAN_BF16 does not ask to do
/// without, and packing operands in parts pays; else on vectors. By BLAS where there are neither,
/// or it was asked for. A function of the extents alone.
enum class FloatBackend { Amx, Vectors, Blas };
FloatBackend chooseFloatBackend(const Extents &extents);

/// C[m, n] = A[m, k] B[k, n]. The same bits for any number of threads, and on vectors for any
/// extents but the depth.
void multiplyOnTiles(const FloatOperand &a, const FloatOperand &b, const Extents &extents,
                     const Destination<float> &c);
void multiplyOnVectors(const FloatVectors &unit, const FloatOperand &a, const FloatOperand &b,
                       const Extents &extents, const Destination<float> &c);
/// Of bf16, widened or in pairs, for To of float or bf16.
template <typename P, typename To>
void multiplyOnVectors(const Bfloat16Vectors<P> &unit, const Bfloat16Operand &a,
                       const Bfloat16Operand &b, const Extents &extents, const Destination<To> &c);

} // namespace titan::rt
