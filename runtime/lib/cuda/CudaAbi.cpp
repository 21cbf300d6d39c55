// The program ABI (program.h) on a CUDA device: GEMM by cuBLAS, attention by LibTorch's flash
// attention or by Attention.cu. Work is queued on the context's stream, or prepared for it.
#include "AttentionKernels.h"
#include "Check.h"
#include "FlashAttention.h"

#include "attention/Attention.h"
#include "attention/AttentionRequest.h"
#include "base/kernels/BlasWorkspace.h"

#include <string>
#include <type_traits>

#include <cublas_v2.h>

namespace titan::rt {

namespace {

void checkBlas(cublasStatus_t status, const Context &ctx) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Fault(std::string("cuBLAS failed at ") + ctx.location + ": " +
                cublasGetStatusString(status));
}

/// cuBLAS with a stream and a workspace. By itself it would allocate the workspace on demand, even
/// in a captured step.
struct Blas {
  cublasHandle_t handle = nullptr;
  void *stream = nullptr, *memory = nullptr;

  explicit Blas(const Context &ctx) {
    checkBlas(cublasCreate(&handle), ctx);
    check(cudaMalloc(&memory, kBlasWorkspaceBytes), "allocating memory for products");
    setStream(ctx);
  }
  void setStream(const Context &ctx) {
    stream = ctx.stream;
    checkBlas(cublasSetStream(handle, static_cast<cudaStream_t>(stream)), ctx);
    checkBlas(cublasSetWorkspace(handle, memory, kBlasWorkspaceBytes),
              ctx); // because a new stream resets the workspace
  }
};

/// One handle per process: one rank uses one device from one thread.
cublasHandle_t getHandle(const Context &ctx) {
  static Blas blas(ctx);
  if (blas.stream != ctx.stream)
    blas.setStream(ctx);
  return blas.handle;
}

/// cuBLAS's column-major GEMM, batched with strides. ta and tb are the operations on A and B; sa,
/// sb and sc are the distances in elements between the matrices of a batch.
cublasStatus_t callGemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                        int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, int64_t sa,
                        const float *b, int64_t ldb, int64_t sb, float beta, float *c, int64_t ldc,
                        int64_t sc, int64_t batch) {
  float one = 1;
  return cublasSgemmStridedBatched_64(handle, ta, tb, m, n, k, &one, a, lda, sa, b, ldb, sb, &beta,
                                      c, ldc, sc, batch);
}

cublasStatus_t callGemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                        int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, int64_t sa,
                        const double *b, int64_t ldb, int64_t sb, double beta, double *c,
                        int64_t ldc, int64_t sc, int64_t batch) {
  double one = 1;
  return cublasDgemmStridedBatched_64(handle, ta, tb, m, n, k, &one, a, lda, sa, b, ldb, sb, &beta,
                                      c, ldc, sc, batch);
}

/// Tensor cores multiply bf16 and sum in float; a bf16 result is rounded once.
template <typename To>
cublasStatus_t callGemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                        int64_t m, int64_t n, int64_t k, const bf16 *a, int64_t lda, int64_t sa,
                        const bf16 *b, int64_t ldb, int64_t sb, float beta, To *c, int64_t ldc,
                        int64_t sc, int64_t batch) {
  float one = 1;
  cudaDataType_t to = sizeof(To) == sizeof(bf16) ? CUDA_R_16BF : CUDA_R_32F;
  return cublasGemmStridedBatchedEx_64(handle, ta, tb, m, n, k, &one, a, CUDA_R_16BF, lda, sa, b,
                                       CUDA_R_16BF, ldb, sb, &beta, c, to, ldc, sc, batch,
                                       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

/// Row-major C = A B is column-major C' = B' A': swap operands and extents.
template <typename T, typename To>
void multiply(const Context &ctx, const T *a, const T *b, To *c, const GemmShape &s) {
  using Scalar = Accumulated<To>;
  auto transposed = [](bool yes) { return yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
  cublasHandle_t handle = getHandle(ctx);
  if (ctx.preparing)
    return;
  checkBlas(callGemm(handle, transposed(s.transposeB), transposed(s.transposeA), s.n, s.m, s.k, b,
                     s.ldb, s.strideB, a, s.lda, s.strideA, s.accumulate ? Scalar(1) : Scalar(0), c,
                     s.ldc, s.strideC, s.batch),
            ctx);
}

bool usesFlashAttention(const AttentionShape &shape, std::initializer_list<const void *> operands) {
  static const int capability = cuda::getComputeCapability();
  return isFlashAttentionWanted() && cuda::canUseFlashAttention(shape, operands, capability);
}

template <typename E>
void forward(Context &ctx, const E *q, const E *k, const E *v, E *out, Accumulated<E> *lse,
             const AttentionShape &shape) {
  if (ctx.preparing)
    return check(cuda::loadAttention(), "loading attention");
  const AttentionShape strided = withStrides(shape);
  auto stream = static_cast<cudaStream_t>(ctx.stream);
  if constexpr (std::is_same_v<E, bf16>)
    if (usesFlashAttention(strided, {q, k, v, out}))
      return cuda::flashForward(strided, q, k, v, out, lse, stream, ctx.location);
  check(cuda::attentionForward(strided, q, k, v, out, lse, stream), "attention");
}

template <typename E>
void backward(Context &ctx, const E *dOut, const E *q, const E *k, const E *v, const E *out,
              const Accumulated<E> *lse, const Accumulated<E> *lseCotangent, E *dq, E *dk, E *dv,
              const AttentionShape &shape) {
  if (ctx.preparing)
    return check(cuda::loadAttention(), "loading attention");
  const AttentionShape strided = withStrides(shape);
  auto stream = static_cast<cudaStream_t>(ctx.stream);
  if constexpr (std::is_same_v<E, bf16>)
    if (!lseCotangent && usesFlashAttention(strided, {dOut, q, k, v, out}))
      return cuda::flashBackward(strided, dOut, q, k, v, out, lse, dq, dk, dv, stream,
                                 ctx.location);
  check(cuda::attentionBackward(strided, dOut, q, k, v, out, lse, lseCotangent, dq, dk, dv, stream),
        "the gradient of attention");
}

} // namespace

void gemm(Context &ctx, const float *a, const float *b, float *c, const GemmShape &shape) {
  multiply(ctx, a, b, c, shape);
}

void gemm(Context &ctx, const double *a, const double *b, double *c, const GemmShape &shape) {
  multiply(ctx, a, b, c, shape);
}

void gemm(Context &ctx, const bf16 *a, const bf16 *b, bf16 *c, const GemmShape &shape) {
  multiply(ctx, a, b, c, shape);
}

void gemm(Context &ctx, const bf16 *a, const bf16 *b, float *c, const GemmShape &shape) {
  multiply(ctx, a, b, c, shape);
}

void attention(Context &ctx, const bf16 *q, const bf16 *k, const bf16 *v, bf16 *out, float *lse,
               const AttentionShape &shape) {
  forward(ctx, q, k, v, out, lse, shape);
}

void attentionGrad(Context &ctx, const bf16 *dOut, const bf16 *q, const bf16 *k, const bf16 *v,
                   const bf16 *out, const float *lse, const float *lseCotangent, bf16 *dq, bf16 *dk,
                   bf16 *dv, const AttentionShape &shape) {
  backward(ctx, dOut, q, k, v, out, lse, lseCotangent, dq, dk, dv, shape);
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
                   const float *out, const float *lse, const float *lseCotangent, float *dq,
                   float *dk, float *dv, const AttentionShape &shape) {
  backward(ctx, dOut, q, k, v, out, lse, lseCotangent, dq, dk, dv, shape);
}

void attentionGrad(Context &ctx, const double *dOut, const double *q, const double *k,
                   const double *v, const double *out, const double *lse,
                   const double *lseCotangent, double *dq, double *dk, double *dv,
                   const AttentionShape &shape) {
  backward(ctx, dOut, q, k, v, out, lse, lseCotangent, dq, dk, dv, shape);
}

} // namespace titan::rt
