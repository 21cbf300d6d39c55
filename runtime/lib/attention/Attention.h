// Scaled dot-product attention on the CPU, forward and backward, for float, double and bf16. bf16
// is widened on load and rounded on store; all arithmetic is float. AttentionShape (program.h)
// describes the tensors:
//
//   q    [outer, queries, kvHeads, group, head]         out  the same with valueHead
//   k    [outer, keys, kvHeads, head]                   shared by the `group` query heads
//   v    [outer, keys, kvHeads, valueHead]
//   lse  [outer, queries, kvHeads, group]               natural log of the sum of exponentials;
//                                                       minus infinity if no key is visible
//
//   out = softmax(cap(scale * q k^T), over the visible keys) v
//   cap(x) = softCap * tanh(x / softCap), or x without a cap
//
// A custom kernel, because general ones are slow at small head dimensions, where exponentials cost
// as much as products. 32 queries (16 in double) occupy the vector lanes, so the maximum and the
// sum over keys are lane-wise operations. Masked blocks are skipped, so a window costs only its
// visible part. The probability matrix is never stored. The backward pass puts keys in lanes and
// recomputes probabilities from lse. The tiling follows T. Dao et al., "FlashAttention", 2022.
//
// Threads divide the (outer, kv head) pairs and, if there are few, the queries or keys of each
// pair. The order of each sum is independent of that division, so results are bitwise equal for any
// number of threads. The caller provides `scratch`: one block for each thread that OpenMP may
// start.
#pragma once

#include "base/kernels/AttentionScratch.h"
#include "titan/runtime/program.h"

namespace titan::rt {

/// The shape with explicit strides.
inline AttentionShape withStrides(AttentionShape s) {
  auto rowMajor = [&](AttentionStrides &strides, int64_t positions, int64_t group, int64_t head) {
    if (strides.position == 0)
      strides = {positions * s.kvHeads * group * head, s.kvHeads * group * head, group * head,
                 group == 1 ? 0 : head, 1};
  };
  rowMajor(s.q, s.queries, s.group, s.head);
  rowMajor(s.k, s.keys, 1, s.head);
  rowMajor(s.v, s.keys, 1, s.valueHead);
  rowMajor(s.out, s.queries, s.group, s.valueHead);
  rowMajor(s.lse, s.queries, s.group, 1);
  rowMajor(s.ofDocuments, s.keys, 1, 1);
  return s;
}

/// The parameters of the scratch sizes. T is the type of the arithmetic: float for bf16.
template <typename T> attention_scratch::Sizes scratchSizes(const AttentionShape &s) {
  return {s.queries, s.keys, s.group, s.head, s.valueHead, sizeof(T)};
}

/// out and lse from q, k, v. lse may be null if no backward pass follows.
void attentionForward(const AttentionShape &shape, const float *q, const float *k, const float *v,
                      float *out, float *lse);
void attentionForward(const AttentionShape &shape, const double *q, const double *k,
                      const double *v, double *out, double *lse);
void attentionForward(const AttentionShape &shape, const bf16 *q, const bf16 *k, const bf16 *v,
                      bf16 *out, float *lse);

/// dq, dk, dv (overwritten) from the forward's inputs and results, the cotangent of out, and the
/// cotangent of lse unless it is null.
void attentionBackward(const AttentionShape &shape, const float *q, const float *k, const float *v,
                       const float *out, const float *lse, const float *dout,
                       const float *lseCotangent, float *dq, float *dk, float *dv);
void attentionBackward(const AttentionShape &shape, const double *q, const double *k,
                       const double *v, const double *out, const double *lse, const double *dout,
                       const double *lseCotangent, double *dq, double *dk, double *dv);
void attentionBackward(const AttentionShape &shape, const bf16 *q, const bf16 *k, const bf16 *v,
                       const bf16 *out, const float *lse, const bf16 *dout,
                       const float *lseCotangent, bf16 *dq, bf16 *dk, bf16 *dv);

} // namespace titan::rt
