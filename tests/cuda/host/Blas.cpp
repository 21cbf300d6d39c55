// Matrix products of cuBLAS on the CPU, for tests (README.md): queued on a stream, with checks of
// every operand's memory.
#include "Capture.h"
#include "Memory.h"
#include "Streams.h"
#include "cublas_v2.h"

#include "titan/runtime/bfloat16.h"

#include <algorithm>

struct cublasContext {
  cudaStream_t stream = nullptr;
  bool hasWorkspace = false; // otherwise cuBLAS allocates one on demand
};

namespace cuda_host {

namespace {

/// One operand of a batch of products, column-major: columns are `ld` elements apart, matrices
/// `stride`.
template <typename T> struct Matrices {
  T *data;
  int64_t rows, columns, ld, stride;

  T *column(int64_t batch, int64_t j) const { return data + batch * stride + j * ld; }
  bool isLegal() const { return ld >= std::max<int64_t>(1, rows); }
};

template <typename T> void checkOperand(const Matrices<T> &m, int64_t batch) {
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t j = 0; j < m.columns; ++j)
      checkRead(m.column(b, j), m.rows * sizeof(T), "a product");
}

/// c = op(a) op(b) + beta c, with sums in double. If beta is 0, c is not read.
template <typename T, typename To>
void multiply(bool transposeA, bool transposeB, int64_t k, const Matrices<const T> &a,
              const Matrices<const T> &b, double beta, const Matrices<To> &c, int64_t batch) {
  checkOperand(a, batch);
  checkOperand(b, batch);
  for (int64_t at = 0; at < batch; ++at)
    for (int64_t j = 0; j < c.columns; ++j) {
      To *column = c.column(at, j);
      checkWrite(column, c.rows * sizeof(To), "a product");
      if (beta != 0)
        checkRead(column, c.rows * sizeof(To), "a product");
      for (int64_t i = 0; i < c.rows; ++i) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += double(transposeA ? a.column(at, i)[l] : a.column(at, l)[i]) *
                 double(transposeB ? b.column(at, l)[j] : b.column(at, j)[l]);
        using Number = titan::rt::Accumulated<To>;
        column[i] = static_cast<Number>(beta != 0 ? sum + beta * double(column[i]) : sum);
      }
      markWritten(column, c.rows * sizeof(To));
    }
}

/// Checks the arguments as cuBLAS does and queues the product.
template <typename T, typename To>
cublasStatus_t queueProduct(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                            int64_t m, int64_t n, int64_t k, double alpha, const T *a, int64_t lda,
                            int64_t sa, const T *b, int64_t ldb, int64_t sb, double beta, To *c,
                            int64_t ldc, int64_t sc, int64_t batch) {
  const bool transposeA = ta == CUBLAS_OP_T, transposeB = tb == CUBLAS_OP_T;
  const Matrices<const T> left{a, transposeA ? k : m, transposeA ? m : k, lda, sa};
  const Matrices<const T> right{b, transposeB ? n : k, transposeB ? k : n, ldb, sb};
  const Matrices<To> result{c, m, n, ldc, sc};
  if (m < 0 || n < 0 || k < 0 || batch < 0 || alpha != 1 || !left.isLegal() || !right.isLegal() ||
      !result.isLegal())
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!handle->hasWorkspace && forbidWhileCapturing("cuBLAS' allocation of a workspace"))
    return CUBLAS_STATUS_ALLOC_FAILED;
  queueWork(handle->stream,
            [=] { multiply(transposeA, transposeB, k, left, right, beta, result, batch); });
  return CUBLAS_STATUS_SUCCESS;
}

} // namespace

} // namespace cuda_host

using titan::rt::bf16;

const char *cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS        ? "success"
         : status == CUBLAS_STATUS_ALLOC_FAILED ? "the resource allocation failed"
                                                : "an argument is not valid";
}

cublasStatus_t cublasCreate(cublasHandle_t *handle) {
  if (cuda_host::forbidWhileCapturing("cublasCreate"))
    return CUBLAS_STATUS_ALLOC_FAILED;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  handle->hasWorkspace = false;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t) {
  if (!cuda_host::isDevice(workspace) || reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  handle->hasWorkspace = true;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t ta,
                                            cublasOperation_t tb, int64_t m, int64_t n, int64_t k,
                                            const float *alpha, const float *a, int64_t lda,
                                            long long sa, const float *b, int64_t ldb, long long sb,
                                            const float *beta, float *c, int64_t ldc, long long sc,
                                            int64_t batch) {
  return cuda_host::queueProduct(handle, ta, tb, m, n, k, *alpha, a, lda, sa, b, ldb, sb, *beta, c,
                                 ldc, sc, batch);
}

cublasStatus_t cublasDgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t ta,
                                            cublasOperation_t tb, int64_t m, int64_t n, int64_t k,
                                            const double *alpha, const double *a, int64_t lda,
                                            long long sa, const double *b, int64_t ldb,
                                            long long sb, const double *beta, double *c,
                                            int64_t ldc, long long sc, int64_t batch) {
  return cuda_host::queueProduct(handle, ta, tb, m, n, k, *alpha, a, lda, sa, b, ldb, sb, *beta, c,
                                 ldc, sc, batch);
}

cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t handle, cublasOperation_t ta,
                                             cublasOperation_t tb, int64_t m, int64_t n, int64_t k,
                                             const void *alpha, const void *a, cudaDataType aType,
                                             int64_t lda, long long sa, const void *b,
                                             cudaDataType bType, int64_t ldb, long long sb,
                                             const void *beta, void *c, cudaDataType cType,
                                             int64_t ldc, long long sc, int64_t batch,
                                             cublasComputeType_t, cublasGemmAlgo_t) {
  if (aType != CUDA_R_16BF || bType != CUDA_R_16BF)
    return CUBLAS_STATUS_INVALID_VALUE;
  auto multiply = [&](auto *to) {
    return cuda_host::queueProduct(handle, ta, tb, m, n, k, *static_cast<const float *>(alpha),
                                   static_cast<const bf16 *>(a), lda, sa,
                                   static_cast<const bf16 *>(b), ldb, sb,
                                   *static_cast<const float *>(beta), to, ldc, sc, batch);
  };
  return cType == CUDA_R_16BF ? multiply(static_cast<bf16 *>(c))
                              : multiply(static_cast<float *>(c));
}
