// Row-major GEMM on raw buffers for emitted code, with one signature for all element types.
//
//   C[m, n] = op(A)[m, k] @ op(B)[k, n], or added to C
//
// op is the identity or the transpose. A leading dimension is the distance between stored rows in
// elements, so views need no copy. C is read only if the product is added to it. Threads are
// OpenMP's; inside a parallel region, a product uses only the calling thread.
//
// f32 backends: AMX for large products, else vectors (AVX-512, AVX2), else LibTorch's BLAS (MKL in
// the official builds), which also computes f64. `TITAN_F32=blas` selects BLAS. Except with BLAS,
// the sum of an element depends only on the extents (on vectors, only on k), not on threads or on
// the element's position.
//
// Errors: Fault, if an extent exceeds BLAS's 32-bit integers.
#pragma once

#include "titan/runtime/bfloat16.h"

#include <cstdint>
#include <span>

namespace titan::rt {

enum class Trans : bool { No = false, Yes = true };

/// One batch dimension: its size, and the stride of each operand in elements. A stride of 0 shares
/// an operand; in an accumulated C it sums over the dimension.
struct BatchDim {
  int64_t count = 1;
  int64_t strideA = 0;
  int64_t strideB = 0;
  int64_t strideC = 0;
};

/// Computes the product for every index of the batch dimensions, outer first. Many small products
/// divide the threads; few large products use all threads each. Products with strideC 0 in some
/// dimension run in order.
void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const float *a, int64_t lda, const float *b, int64_t ldb,
                 bool accumulate, float *c, int64_t ldc);
void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const double *a, int64_t lda, const double *b, int64_t ldb,
                 bool accumulate, double *c, int64_t ldc);

/// bf16 products, summed in float; a bf16 result is rounded once. Backends: AMX; else vectors with
/// bf16 pair products, if they are faster than float (not on Intel); else widening, because float
/// is faster than emulated bf16. Vectors widen while packing; BLAS needs widened copies. The first
/// call selects the backend. TITAN_BF16 overrides it: `vectors` disables AMX (for f32 too) and uses
/// bf16 vectors on any vendor; `widen` always widens; `native` uses MKL, which may emulate bf16.
void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const bf16 *a, int64_t lda, const bf16 *b, int64_t ldb, bool accumulate,
                 float *c, int64_t ldc);
void gemmBatched(std::span<const BatchDim> batch, Trans transA, Trans transB, int64_t m, int64_t n,
                 int64_t k, const bf16 *a, int64_t lda, const bf16 *b, int64_t ldb, bool accumulate,
                 bf16 *c, int64_t ldc);

/// Inner product in double, in an order that depends only on `count`, so it is bitwise equal for
/// any number of threads.
double dot(int64_t count, const float *a, const float *b);
double dot(int64_t count, const double *a, const double *b);

} // namespace titan::rt
