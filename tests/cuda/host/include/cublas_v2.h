// The subset of cuBLAS that Titan uses, emulated on the CPU: plain sums in double precision,
// rounded once.
#pragma once

#include "cuda_runtime_api.h"

#include <cstdint>

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };
using cudaDataType = cudaDataType_t;

struct cublasContext;
using cublasHandle_t = cublasContext *;

const char *cublasGetStatusString(cublasStatus_t);
cublasStatus_t cublasCreate(cublasHandle_t *);
cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t);
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *workspace, size_t bytes);
cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                            int64_t m, int64_t n, int64_t k, const float *alpha,
                                            const float *a, int64_t lda, long long strideA,
                                            const float *b, int64_t ldb, long long strideB,
                                            const float *beta, float *c, int64_t ldc,
                                            long long strideC, int64_t batch);
cublasStatus_t cublasDgemmStridedBatched_64(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                            int64_t m, int64_t n, int64_t k, const double *alpha,
                                            const double *a, int64_t lda, long long strideA,
                                            const double *b, int64_t ldb, long long strideB,
                                            const double *beta, double *c, int64_t ldc,
                                            long long strideC, int64_t batch);
cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                             int64_t m, int64_t n, int64_t k, const void *alpha,
                                             const void *a, cudaDataType, int64_t lda,
                                             long long strideA, const void *b, cudaDataType,
                                             int64_t ldb, long long strideB, const void *beta,
                                             void *c, cudaDataType, int64_t ldc, long long strideC,
                                             int64_t batch, cublasComputeType_t, cublasGemmAlgo_t);
