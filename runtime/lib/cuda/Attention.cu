// Plain kernels, one warp a row, exact in float and double: what the float32 and float64 programs
// need. Memory holds E; with bf16 there, everything between is float. Each result is computed by one warp in a fixed order, without atomics, so that replicas
// keep the same bits.
#include "AttentionKernels.h"

namespace titan::rt::cuda {

namespace {

constexpr int warpSize32 = 32;
constexpr int warpsPerBlock = 4;
constexpr int largestHead = 256;
constexpr int perLane = largestHead / warpSize32;

struct Row {
  int64_t outer, position, kvHead, g;
};

/// Which query (or with group 1, which key) a warp works on.
__device__ Row rowOf(int64_t index, const AttentionShape &s, int64_t group) {
  Row row;
  row.g = index % group;
  row.kvHead = index / group % s.kvHeads;
  row.position = index / group / s.kvHeads % s.seq;
  row.outer = index / group / s.kvHeads / s.seq;
  return row;
}

__device__ int64_t keyOffset(const Row &row, int64_t position, const AttentionShape &s) {
  return ((row.outer * s.seq + position) * s.kvHeads + row.kvHead) * s.head;
}

template <typename E> __device__ Accumulated<E> dot(const E *a, const E *b, int64_t count) {
  Accumulated<E> sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += a[i] * b[i];
  return sum;
}

template <typename T> __device__ T lowest();
template <> __device__ float lowest<float>() {
  return -3.402823466e38f;
}
template <> __device__ double lowest<double>() {
  return -1.7976931348623157e308;
}

/// Largest score and sum of exponentials relative to it, merged over the lanes of a warp.
template <typename T> __device__ void mergeLanes(T &top, T &total) {
  for (int step = warpSize32 / 2; step > 0; step /= 2) {
    T otherTop = __shfl_xor_sync(~0u, top, step), otherTotal = __shfl_xor_sync(~0u, total, step);
    T highest = top > otherTop ? top : otherTop;
    total = total * exp(top - highest) + otherTotal * exp(otherTop - highest);
    top = highest;
  }
}

template <typename E>
__global__ void forwardKernel(AttentionShape s, const E *q, const E *k, const E *v, E *out,
                              Accumulated<E> *lse) {
  using T = Accumulated<E>;
  int64_t index = int64_t{blockIdx.x} * warpsPerBlock + threadIdx.y;
  if (index >= s.outer * s.seq * s.kvHeads * s.group)
    return;
  Row row = rowOf(index, s, s.group);
  const E *query = q + index * s.head;
  int64_t visible = s.causal ? row.position + 1 : s.seq;
  T top = lowest<T>(), total = 0;
  for (int64_t j = threadIdx.x; j < visible; j += warpSize32) {
    T score = T(s.scale) * dot(query, k + keyOffset(row, j, s), s.head);
    T highest = top > score ? top : score;
    total = total * exp(top - highest) + exp(score - highest);
    top = highest;
  }
  mergeLanes(top, total);
  T sum[perLane] = {};
  for (int64_t j0 = 0; j0 < visible; j0 += warpSize32) {
    int64_t j = j0 + threadIdx.x;
    T mine = j < visible
                 ? exp(T(s.scale) * dot(query, k + keyOffset(row, j, s), s.head) - top) / total
                 : T(0);
    for (int lane = 0; lane < warpSize32 && j0 + lane < visible; ++lane) {
      T p = __shfl_sync(~0u, mine, lane);
      const E *value = v + keyOffset(row, j0 + lane, s);
      for (int i = 0; i < perLane; ++i)
        if (int64_t d = threadIdx.x + i * warpSize32; d < s.head)
          sum[i] += p * value[d];
    }
  }
  for (int i = 0; i < perLane; ++i)
    if (int64_t d = threadIdx.x + i * warpSize32; d < s.head)
      out[index * s.head + d] = sum[i];
  if (lse && threadIdx.x == 0)
    lse[index] = top + log(total);
}

/// A warp a query: dq = scale sum_j p_j (dout . v_j - dout . out) k_j.
template <typename E>
__global__ void queryGradientKernel(AttentionShape s, const E *dOut, const E *q, const E *k,
                                    const E *v, const E *out, const Accumulated<E> *lse, E *dq) {
  using T = Accumulated<E>;
  int64_t index = int64_t{blockIdx.x} * warpsPerBlock + threadIdx.y;
  if (index >= s.outer * s.seq * s.kvHeads * s.group)
    return;
  Row row = rowOf(index, s, s.group);
  const E *query = q + index * s.head, *cotangent = dOut + index * s.head;
  int64_t visible = s.causal ? row.position + 1 : s.seq;
  T mean = dot(cotangent, out + index * s.head, s.head);
  T sum[perLane] = {};
  for (int64_t j0 = 0; j0 < visible; j0 += warpSize32) {
    int64_t j = j0 + threadIdx.x;
    T mine = 0;
    if (j < visible) {
      T p = exp(T(s.scale) * dot(query, k + keyOffset(row, j, s), s.head) - lse[index]);
      mine = p * (dot(cotangent, v + keyOffset(row, j, s), s.head) - mean) * T(s.scale);
    }
    for (int lane = 0; lane < warpSize32 && j0 + lane < visible; ++lane) {
      T ds = __shfl_sync(~0u, mine, lane);
      const E *key = k + keyOffset(row, j0 + lane, s);
      for (int i = 0; i < perLane; ++i)
        if (int64_t d = threadIdx.x + i * warpSize32; d < s.head)
          sum[i] += ds * key[d];
    }
  }
  for (int i = 0; i < perLane; ++i)
    if (int64_t d = threadIdx.x + i * warpSize32; d < s.head)
      dq[index * s.head + d] = sum[i];
}

/// A warp a key: dk and dv, over all query heads and positions that see it.
template <typename E>
__global__ void keyGradientKernel(AttentionShape s, const E *dOut, const E *q, const E *k,
                                  const E *v, const E *out, const Accumulated<E> *lse, E *dk,
                                  E *dv) {
  using T = Accumulated<E>;
  int64_t index = int64_t{blockIdx.x} * warpsPerBlock + threadIdx.y;
  if (index >= s.outer * s.seq * s.kvHeads)
    return;
  Row row = rowOf(index, s, 1);
  const E *key = k + index * s.head, *value = v + index * s.head;
  T keySum[perLane] = {}, valueSum[perLane] = {};
  int64_t first = s.causal ? row.position : 0;
  for (int64_t g = 0; g < s.group; ++g)
    for (int64_t i0 = first; i0 < s.seq; i0 += warpSize32) {
      auto queryRow = [&](int64_t i) {
        return ((row.outer * s.seq + i) * s.kvHeads + row.kvHead) * s.group + g;
      };
      int64_t position = i0 + threadIdx.x;
      T p = 0, ds = 0;
      if (position < s.seq) {
        int64_t from = queryRow(position);
        const E *cotangent = dOut + from * s.head;
        p = exp(T(s.scale) * dot(q + from * s.head, key, s.head) - lse[from]);
        T mean = dot(cotangent, out + from * s.head, s.head);
        ds = p * (dot(cotangent, value, s.head) - mean) * T(s.scale);
      }
      for (int lane = 0; lane < warpSize32 && i0 + lane < s.seq; ++lane) {
        T pLane = __shfl_sync(~0u, p, lane), dsLane = __shfl_sync(~0u, ds, lane);
        int64_t from = queryRow(i0 + lane) * s.head;
        for (int i = 0; i < perLane; ++i)
          if (int64_t d = threadIdx.x + i * warpSize32; d < s.head) {
            valueSum[i] += pLane * dOut[from + d];
            keySum[i] += dsLane * q[from + d];
          }
      }
    }
  for (int i = 0; i < perLane; ++i)
    if (int64_t d = threadIdx.x + i * warpSize32; d < s.head) {
      dk[index * s.head + d] = keySum[i];
      dv[index * s.head + d] = valueSum[i];
    }
}

unsigned blocksFor(int64_t rows) {
  return static_cast<unsigned>((rows + warpsPerBlock - 1) / warpsPerBlock);
}

template <typename E>
cudaError_t forward(const AttentionShape &s, const E *q, const E *k, const E *v, E *out,
                    Accumulated<E> *lse, cudaStream_t stream) {
  if (s.head > largestHead)
    return cudaErrorInvalidValue;
  dim3 threads(warpSize32, warpsPerBlock);
  int64_t rows = s.outer * s.seq * s.kvHeads * s.group;
  forwardKernel<E><<<blocksFor(rows), threads, 0, stream>>>(s, q, k, v, out, lse);
  return cudaGetLastError();
}

template <typename E>
cudaError_t backward(const AttentionShape &s, const E *dOut, const E *q, const E *k, const E *v,
                     const E *out, const Accumulated<E> *lse, E *dq, E *dk, E *dv,
                     cudaStream_t stream) {
  if (s.head > largestHead)
    return cudaErrorInvalidValue;
  dim3 threads(warpSize32, warpsPerBlock);
  int64_t keys = s.outer * s.seq * s.kvHeads;
  queryGradientKernel<E>
      <<<blocksFor(keys * s.group), threads, 0, stream>>>(s, dOut, q, k, v, out, lse, dq);
  keyGradientKernel<E><<<blocksFor(keys), threads, 0, stream>>>(s, dOut, q, k, v, out, lse, dk, dv);
  return cudaGetLastError();
}

} // namespace

cudaError_t attentionForward(const AttentionShape &shape, const float *q, const float *k,
                             const float *v, float *out, float *lse, cudaStream_t stream) {
  return forward(shape, q, k, v, out, lse, stream);
}

cudaError_t attentionForward(const AttentionShape &shape, const double *q, const double *k,
                             const double *v, double *out, double *lse, cudaStream_t stream) {
  return forward(shape, q, k, v, out, lse, stream);
}

cudaError_t attentionForward(const AttentionShape &shape, const bf16 *q, const bf16 *k,
                             const bf16 *v, bf16 *out, float *lse, cudaStream_t stream) {
  return forward(shape, q, k, v, out, lse, stream);
}

cudaError_t attentionBackward(const AttentionShape &shape, const bf16 *dOut, const bf16 *q,
                              const bf16 *k, const bf16 *v, const bf16 *out, const float *lse,
                              bf16 *dq, bf16 *dk, bf16 *dv, cudaStream_t stream) {
  return backward(shape, dOut, q, k, v, out, lse, dq, dk, dv, stream);
}

cudaError_t attentionBackward(const AttentionShape &shape, const float *dOut, const float *q,
                              const float *k, const float *v, const float *out, const float *lse,
                              float *dq, float *dk, float *dv, cudaStream_t stream) {
  return backward(shape, dOut, q, k, v, out, lse, dq, dk, dv, stream);
}

cudaError_t attentionBackward(const AttentionShape &shape, const double *dOut, const double *q,
                              const double *k, const double *v, const double *out,
                              const double *lse, double *dq, double *dk, double *dv,
                              cudaStream_t stream) {
  return backward(shape, dOut, q, k, v, out, lse, dq, dk, dv, stream);
}

} // namespace titan::rt::cuda
