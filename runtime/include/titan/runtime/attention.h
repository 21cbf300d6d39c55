// Scaled dot-product attention on the CPU, forward and backward, for float and double; made for
// emitted code, so on raw buffers with the head dimensions as named in the language:
//
//   q, out   [batch, queries, kvHeads, group, dim]
//   k, v     [batch, keys,    kvHeads,        dim]     shared by the `group` query heads
//   lse      [batch, kvHeads, group, queries]          log of the sum of exponentials (natural)
//
//   out = softmax(scale * q k^T, over the visible keys) v
//
// With `causal`, query i sees keys 0 .. i + offset, offset = keys - queries (0 when they are equal):
// the last query sees all. Tensors are contiguous but for the distance between tokens, which may be
// larger (views into a fused projection).
//
// Why its own kernel: general ones are slow at small head dimensions, where the exponentials weigh
// as much as the products. Here 32 queries (16 in double) lie in vector lanes, so that maximum and
// sum over keys are plain lane-wise operations; blocks above the diagonal are skipped; the
// probabilities never exist whole. The backward puts keys in lanes and recomputes probabilities from
// lse. Each (batch, kv head) is computed by one thread in a fixed order, so results have the same
// bits for any number of threads.
#pragma once

#include <cstdint>

namespace titan::rt {

struct AttentionShape {
  int64_t batch = 1;
  int64_t queries = 1;
  int64_t keys = 1;
  int64_t kvHeads = 1;
  int64_t group = 1;
  int64_t dim = 1;
  double scale = 1.0;
  bool causal = true;
  /// Elements from one token to the next; 0 stands for contiguous. Gradients have the strides of
  /// what they belong to.
  int64_t qStride = 0, kStride = 0, vStride = 0, outStride = 0;
};

/// out and lse from q, k, v. lse may be null when no backward follows.
void attentionForward(const AttentionShape &shape, const float *q, const float *k, const float *v,
                      float *out, float *lse);
void attentionForward(const AttentionShape &shape, const double *q, const double *k,
                      const double *v, double *out, double *lse);

/// dq, dk, dv (overwritten) from the forward's inputs and results and the cotangent of out.
void attentionBackward(const AttentionShape &shape, const float *q, const float *k, const float *v,
                       const float *out, const float *lse, const float *dout, float *dq, float *dk,
                       float *dv);
void attentionBackward(const AttentionShape &shape, const double *q, const double *k,
                       const double *v, const double *out, const double *lse, const double *dout,
                       double *dq, double *dk, double *dv);

} // namespace titan::rt
