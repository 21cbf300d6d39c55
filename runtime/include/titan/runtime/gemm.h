// Matrix products on raw buffers, row-major, for emitted code: LibTorch's BLAS (MKL in the official
// builds) behind one signature for float and double. Large products of floats are made on tiles
// (AMX) where the processor has them, as precisely and faster; `TITAN_F32=blas` leaves them to
// BLAS.
//
//   C[m, n] = alpha * op(A)[m, k] @ op(B)[k, n] + beta * C[m, n]
//
// op is the identity or the transpose; a leading dimension is the distance in elements between rows
// as stored, so views into larger tensors need no copy. beta = 0 never reads C. Threads are
// OpenMP's; inside a parallel region a product runs on its one thread.
//
// Errors: Fault, if an extent does not fit the BLAS's 32-bit integers.
#pragma once

#include "titan/runtime/bfloat16.h"

#include <cstdint>
#include <span>

namespace titan::rt {

enum class Trans : bool { No = false, Yes = true };

void gemm(Trans transA, Trans transB, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
          int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
void gemm(Trans transA, Trans transB, int64_t m, int64_t n, int64_t k, double alpha,
          const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
          int64_t ldc);

/// One dimension of a batch: how often, and how far each operand moves in elements. A stride of 0
/// shares an operand (or, in C with beta = 1, sums over the dimension).
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
                 int64_t k, float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                 float beta, float *c, int64_t ldc);
void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, double alpha, const double *a, int64_t lda, const double *b,
                 int64_t ldb, double beta, double *c, int64_t ldc);

/// Products of bf16, summed in float and, into bf16, rounded once. Where the processor has tiles
/// (AMX), they are made there; where it multiplies bf16 in vectors, MKL does; elsewhere the
/// operands are widened, since float is faster there than emulation. The choice is made at the
/// first call. `TITAN_BF16=widen` widens everywhere, `native` never.
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
