// Products by blocks that all threads pack and multiply: of floats on the processor's tiles
// (AmxFloat.h), of floats and of bf16 on its vectors (Avx512.h).
#pragma once

#include "Operands.h"

#include "titan/runtime/bfloat16.h"

namespace titan::rt {

/// How floats are multiplied here: on tiles where there are some, TITAN_BF16 does not ask to do
/// without, and packing operands in parts pays; else on vectors. By BLAS where there are neither,
/// or if TITAN_F32=blas asks. A function of the extents alone.
enum class FloatWay { Tiles, Vectors, Blas };
FloatWay wayOfFloats(const Extents &extents);

/// C[m, n] = A[m, k] B[k, n]. The same bits for any number of threads, and on vectors for any
/// extents but the depth.
void multiplyOnTiles(const FloatOperand &a, const FloatOperand &b, const Extents &extents,
                     const Destination<float> &c);
void multiplyOnVectors(const FloatOperand &a, const FloatOperand &b, const Extents &extents,
                       const Destination<float> &c);
void multiplyOnVectors(const Bfloat16Operand &a, const Bfloat16Operand &b, const Extents &extents,
                       const Destination<float> &c);
void multiplyOnVectors(const Bfloat16Operand &a, const Bfloat16Operand &b, const Extents &extents,
                       const Destination<bf16> &c);

} // namespace titan::rt
