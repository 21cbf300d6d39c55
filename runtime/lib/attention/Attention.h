// Scaled dot-product attention on the CPU, forward and backward, for float, double and bf16 (which
// is widened where it is read and rounded where it is written; all between is float), on the
// buffers that program.h's AttentionShape describes:
//
//   q    [outer, queries, kvHeads, group, head]         out  the same with valueHead
//   k    [outer, keys, kvHeads, head]                   shared by the `group` query heads
//   v    [outer, keys, kvHeads, valueHead]
//   lse  [outer, queries, kvHeads, group]               natural log of the sum of exponentials
//
//   out = softmax(cap(scale * q k^T), over the visible keys) v
//
// Why its own kernel: general ones are slow at small head dimensions, where the exponentials weigh
// as much as the products. Here 32 queries (16 in double) lie in vector lanes, so that maximum and
// sum over keys are plain lane-wise operations; blocks that the mask hides are skipped, so that a
// window costs what it shows; the probabilities never exist whole. The backward puts keys in lanes
// and recomputes probabilities from lse. The tiling is that of T. Dao et al., "FlashAttention",
// 2022.
//
// Threads share (outer, kv head) pairs and, where those are few, the queries or keys of each. Every
// element is summed in an order that does not depend on this, so results have the same bits for any
// number of threads. Working memory is the caller's: `scratch` has one block for each thread that
// OpenMP may start.
#pragma once

#include "base/kernels/AttentionScratch.h"
#include "titan/runtime/program.h"

namespace titan::rt {

/// The shape with all strides spelled out.
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

/// What the sizes of a thread's working memory follow from; T is the type computed with, so float
/// where memory holds bf16.
template <typename T> attention_scratch::Sizes scratchSizes(const AttentionShape &s) {
  return {s.queries, s.keys, s.group, s.head, s.valueHead, sizeof(T)};
}

/// out and lse from q, k, v. lse may be null when no backward follows.
void attentionForward(const AttentionShape &shape, const float *q, const float *k, const float *v,
                      float *out, float *lse);
void attentionForward(const AttentionShape &shape, const double *q, const double *k,
                      const double *v, double *out, double *lse);
void attentionForward(const AttentionShape &shape, const bf16 *q, const bf16 *k, const bf16 *v,
                      bf16 *out, float *lse);

/// dq, dk, dv (overwritten) from the forward's inputs and results and the cotangents of out and,
/// unless it is null, of lse (`lseCotangent`).
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
