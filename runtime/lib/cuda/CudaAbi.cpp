// What emitted functions call (program.h), on a CUDA device: products by cuBLAS, attention by the
// kernels of Attention.cu. Everything is queued on the context's stream.
#include "AttentionKernels.h"
#include "Check.h"

#include "titan/runtime/attention.h"

#include <string>

#include <cublas_v2.h>

namespace titan::rt {

namespace {

void checkBlas(cublasStatus_t status, const Context &ctx) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Fault(std::string("cuBLAS failed at ") + ctx.place + ": " +
                cublasGetStatusString(status));
}

/// One handle for the process: one rank drives one device from one thread.
cublasHandle_t handleFor(const Context &ctx) {
  static cublasHandle_t handle = [&] {
    cublasHandle_t created = nullptr;
    checkBlas(cublasCreate(&created), ctx);
    return created;
  }();
  checkBlas(cublasSetStream(handle, static_cast<cudaStream_t>(ctx.stream)), ctx);
  return handle;
}

cublasStatus_t blas(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int64_t m,
                    int64_t n, int64_t k, const float *a, int64_t lda, int64_t sa, const float *b,
                    int64_t ldb, int64_t sb, float beta, float *c, int64_t ldc, int64_t sc,
                    int64_t batch) {
  float one = 1;
  return cublasSgemmStridedBatched_64(handle, ta, tb, m, n, k, &one, a, lda, sa, b, ldb, sb, &beta,
                                      c, ldc, sc, batch);
}

cublasStatus_t blas(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int64_t m,
                    int64_t n, int64_t k, const double *a, int64_t lda, int64_t sa, const double *b,
                    int64_t ldb, int64_t sb, double beta, double *c, int64_t ldc, int64_t sc,
                    int64_t batch) {
  double one = 1;
  return cublasDgemmStridedBatched_64(handle, ta, tb, m, n, k, &one, a, lda, sa, b, ldb, sb, &beta,
                                      c, ldc, sc, batch);
}

/// Row-major C = A B is column-major C' = B' A': swap operands and extents.
template <typename T>
void product(const Context &ctx, const T *a, const T *b, T *c, const GemmShape &s) {
  auto transposed = [](bool yes) { return yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
  checkBlas(blas(handleFor(ctx), transposed(s.transposeB), transposed(s.transposeA), s.n, s.m, s.k,
                 b, s.ldb, s.strideB, a, s.lda, s.strideA, s.accumulate ? T(1) : T(0), c, s.ldc,
                 s.strideC, s.batch),
            ctx);
}

template <typename T>
void forward(Context &ctx, const T *q, const T *k, const T *v, T *out, T *lse,
             const AttentionShape &shape) {
  check(cuda::attentionForward(withStrides(shape), q, k, v, out, lse,
                               static_cast<cudaStream_t>(ctx.stream)),
        "attention");
}

template <typename T>
void backward(Context &ctx, const T *dOut, const T *q, const T *k, const T *v, const T *out,
              const T *lse, const T *through, T *dq, T *dk, T *dv, const AttentionShape &shape) {
  check(cuda::attentionBackward(withStrides(shape), dOut, q, k, v, out, lse, through, dq, dk, dv,
                                static_cast<cudaStream_t>(ctx.stream)),
        "the gradient of attention");
}

} // namespace

void gemm(Context &ctx, const float *a, const float *b, float *c, const GemmShape &shape) {
  product(ctx, a, b, c, shape);
}

void gemm(Context &ctx, const double *a, const double *b, double *c, const GemmShape &shape) {
  product(ctx, a, b, c, shape);
}

void attention(Context &ctx, const float *q, const float *k, const float *v, float *out, float *lse,
               const AttentionShape &shape) {
  forward(ctx, q, k, v, out, lse, shape);
}

void attention(Context &ctx, const double *q, const double *k, const double *v, double *out,
               double *lse, const AttentionShape &shape) {
  forward(ctx, q, k, v, out, lse, shape);
}

void attentionGrad(Context &ctx, const float *dOut, const float *q, const float *k, const float *v,
                   const float *out, const float *lse, const float *through, float *dq, float *dk,
                   float *dv, const AttentionShape &shape) {
  backward(ctx, dOut, q, k, v, out, lse, through, dq, dk, dv, shape);
}

void attentionGrad(Context &ctx, const double *dOut, const double *q, const double *k,
                   const double *v, const double *out, const double *lse, const double *through,
                   double *dq, double *dk, double *dv, const AttentionShape &shape) {
  backward(ctx, dOut, q, k, v, out, lse, through, dq, dk, dv, shape);
}

} // namespace titan::rt
