// Matrix products on raw buffers, row-major, for emitted code, behind one signature for all
// elements.
//
//   C[m, n] = op(A)[m, k] @ op(B)[k, n], or that added to C
//
// op is the identity or the transpose; a leading dimension is the distance in elements between rows
// as stored, so views into larger tensors need no copy. C is not read unless it is added to.
// Threads are OpenMP's; inside a parallel region a product runs on its one thread.
//
// Products of floats are made on the processor's tiles (AMX) where it has them and they are large,
// else on its vectors (AVX-512), else by LibTorch's BLAS (MKL in the official builds), which makes
// those of doubles, too. `TITAN_F32=blas` leaves all to BLAS. But by BLAS, an element's sum is a
// function of the extents, on vectors of the depth alone: not of threads, nor of its place.
//
// Errors: Fault, if an extent does not fit the BLAS's 32-bit integers.
#pragma once

#include "titan/runtime/bfloat16.h"

#include <cstdint>
#include <span>

namespace titan::rt {

enum class Trans : bool { No = false, Yes = true };

/// One dimension of a batch: how often, and how far each operand moves in elements. A stride of 0
/// shares an operand (or, in C that is added to, sums over the dimension).
struct BatchDim {
  int64_t count = 1;
  int64_t strideA = 0;
  int64_t strideB = 0;
  int64_t strideC = 0;
};

/// The product for every index of the batch dimensions, outer first. Many small products share the
/// threads among them, few large ones use all threads each. Products whose strideC is 0 in some
/// dimension run one after the other in order.
void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const float *a, int64_t lda, const float *b, int64_t ldb,
                 bool accumulate, float *c, int64_t ldc);
void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const double *a, int64_t lda, const double *b, int64_t ldb,
                 bool accumulate, double *c, int64_t ldc);

/// Products of bf16, summed in float and, into bf16, rounded once. Where the processor has tiles
/// (AMX), they are made there, where it multiplies bf16 in vectors (AVX-512) faster than floats
/// (not Intel's), in these; elsewhere the operands are widened, since float is faster there than
/// emulation: where floats are multiplied on vectors while they are packed, else whole, for BLAS.
/// The choice is made at the first call. `TITAN_BF16=vectors` does without tiles, for floats too,
/// but with vectors of bf16 whose ever they are, `widen` widens everywhere, `native` never: MKL
/// emulates what the processor lacks.
void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const bf16 *a, int64_t lda, const bf16 *b, int64_t ldb, bool accumulate,
                 float *c, int64_t ldc);
void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const bf16 *a, int64_t lda, const bf16 *b, int64_t ldb, bool accumulate,
                 bf16 *c, int64_t ldc);

/// Inner product, accumulated in double in an order that depends on `count` alone, so that any
/// number of threads gives the same bits.
double dot(int64_t count, const float *a, const float *b);
double dot(int64_t count, const double *a, const double *b);

} // namespace titan::rt
