// Attention by LibTorch's flash attention (T. Dao, "FlashAttention-2", 2023) on CUDA devices. It
// uses tensor cores, but supports fewer shapes than Attention.cu. Shapes have all strides set
// (attention/Attention.h).
//
// The results and log-sum-exps are the same quantities as those of Attention.cu. Therefore the
// forward pass can use one implementation and the backward pass the other. LibTorch allocates
// results and workspace (base/kernels/FlashWorkspace.h); an allocation while a stream is captured
// is an error.
#pragma once

#include "titan/runtime/program.h"

#include <initializer_list>
#include <optional>

#include <cuda_runtime_api.h>

namespace titan::rt::cuda {

/// The visible keys as flash attention describes them. It aligns the last query with the last of
/// the first `keys` keys. Query i then sees the keys from i - left to i + right; -1: no bound.
struct FlashMask {
  int64_t keys, left, right;
};
/// Empty if the mask has no such description.
std::optional<FlashMask> describeMask(const AttentionShape &shape);

/// Whether flash attention computes the shape on a device of this compute capability (8 for 8.x).
/// `operands`: addresses of all bf16 inputs.
bool canUseFlashAttention(const AttentionShape &shape, std::initializer_list<const void *> operands,
                          int computeCapability);

/// The compute capability of the current device, without the digit after the point.
int getComputeCapability();

/// Queue the pass on the stream. `location` is the source line for errors. `lse` may be null in the
/// forward pass. All gradients are overwritten.
void flashForward(const AttentionShape &shape, const bf16 *q, const bf16 *k, const bf16 *v,
                  bf16 *out, float *lse, cudaStream_t stream, const char *location);
void flashBackward(const AttentionShape &shape, const bf16 *dOut, const bf16 *q, const bf16 *k,
                   const bf16 *v, const bf16 *out, const float *lse, bf16 *dq, bf16 *dk, bf16 *dv,
                   cudaStream_t stream, const char *location);

} // namespace titan::rt::cuda
