// Scaled dot-product attention on the CPU, forward and backward, for float, double and bf16 (which
// is widened where it is read and rounded where it is written; all between is float), on the
// buffers that program.h's AttentionShape describes:
//
//   q, out   [outer, seq, kvHeads, group, head]
//   k, v     [outer, seq, kvHeads,        head]    shared by the `group` query heads
//   lse      [outer, seq, kvHeads, group]          natural log of the sum of exponentials
//
//   out = softmax(scale * q k^T, over the visible keys) v;  causal: query i sees keys 0 .. i
//
// Why its own kernel: general ones are slow at small head dimensions, where the exponentials weigh
// as much as the products. Here 32 queries (16 in double) lie in vector lanes, so that maximum and
// sum over keys are plain lane-wise operations; blocks above the diagonal are skipped; the
// probabilities never exist whole. The backward puts keys in lanes and recomputes probabilities
// from lse. Each (outer, kv head) is computed by one thread in a fixed order, so results have the
// same bits for any number of threads. The tiling is that of T. Dao et al., "FlashAttention", 2022.
//
// Scratch is kept per thread between calls (about 3 * group * seq * head elements in the backward).
#pragma once

#include "titan/runtime/program.h"

namespace titan::rt {

/// out and lse from q, k, v. lse may be null when no backward follows.
void attentionForward(const AttentionShape &shape, const float *q, const float *k, const float *v,
                      float *out, float *lse);
void attentionForward(const AttentionShape &shape, const double *q, const double *k,
                      const double *v, double *out, double *lse);
void attentionForward(const AttentionShape &shape, const bf16 *q, const bf16 *k, const bf16 *v,
                      bf16 *out, float *lse);

/// dq, dk, dv (overwritten) from the forward's inputs and results and the cotangent of out.
void attentionBackward(const AttentionShape &shape, const float *q, const float *k, const float *v,
                       const float *out, const float *lse, const float *dout, float *dq, float *dk,
                       float *dv);
void attentionBackward(const AttentionShape &shape, const double *q, const double *k,
                       const double *v, const double *out, const double *lse, const double *dout,
                       double *dq, double *dk, double *dv);
void attentionBackward(const AttentionShape &shape, const bf16 *q, const bf16 *k, const bf16 *v,
                       const bf16 *out, const float *lse, const bf16 *dout, bf16 *dq, bf16 *dk,
                       bf16 *dv);

} // namespace titan::rt
