// Attention on a CUDA device, with shapes (all strides set) and semantics of
// attention/Attention.h. Both the host compiler and nvcc read this header, so it includes
// nothing that is slow to compile with nvcc.
#pragma once

#include "titan/runtime/program.h"

#include <cuda_runtime_api.h>

namespace titan::rt::cuda {

/// Loads the kernels below onto the device before their first launch.
cudaError_t loadAttention();

cudaError_t attentionForward(const AttentionShape &shape, const float *q, const float *k,
                             const float *v, float *out, float *lse, cudaStream_t stream);
cudaError_t attentionForward(const AttentionShape &shape, const double *q, const double *k,
                             const double *v, double *out, double *lse, cudaStream_t stream);
cudaError_t attentionForward(const AttentionShape &shape, const bf16 *q, const bf16 *k,
                             const bf16 *v, bf16 *out, float *lse, cudaStream_t stream);
cudaError_t attentionBackward(const AttentionShape &shape, const bf16 *dOut, const bf16 *q,
                              const bf16 *k, const bf16 *v, const bf16 *out, const float *lse,
                              const float *lseCotangent, bf16 *dq, bf16 *dk, bf16 *dv,
                              cudaStream_t stream);
cudaError_t attentionBackward(const AttentionShape &shape, const float *dOut, const float *q,
                              const float *k, const float *v, const float *out, const float *lse,
                              const float *lseCotangent, float *dq, float *dk, float *dv,
                              cudaStream_t stream);
cudaError_t attentionBackward(const AttentionShape &shape, const double *dOut, const double *q,
                              const double *k, const double *v, const double *out,
                              const double *lse, const double *lseCotangent, double *dq, double *dk,
                              double *dv, cudaStream_t stream);

} // namespace titan::rt::cuda
