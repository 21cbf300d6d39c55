// The kernels of AttentionKernels.h: simple ones with one warp per row, in float (bf16 is widened
// on load and rounded on store) or double. One warp computes each result in a fixed order without
// atomics, so replicas stay bitwise equal.
#include "AttentionKernels.h"

#include "titan/runtime/blocked_sum.h"

namespace titan::rt::cuda {

namespace {

constexpr int warpSize32 = 32;
constexpr int warpsPerBlock = 4;
constexpr int elementsPerPass = 256; // of a head, in a pass of a warp
constexpr int perLane = elementsPerPass / warpSize32;

/// The indices of a query; of a key if g is 0.
struct Row {
  int64_t outer, position, kvHead, g;
};

/// Row `index` of the queries, or of the keys if `group` is 1.
__device__ Row getRow(int64_t index, const AttentionShape &s, int64_t positions, int64_t group) {
  Row row;
  row.g = index % group;
  row.kvHead = index / group % s.kvHeads;
  row.position = index / group / s.kvHeads % positions;
  row.outer = index / group / s.kvHeads / positions;
  return row;
}

__device__ int64_t getOffset(const Row &row, const AttentionStrides &at) {
  return row.outer * at.outer + row.position * at.position + row.kvHead * at.kvHead +
         row.g * at.group;
}

/// The offset of the row's head at another position: of a key, or of a query of head g.
__device__ int64_t offsetAt(Row row, int64_t position, const AttentionStrides &at) {
  row.position = position;
  return getOffset(row, at);
}

template <typename E>
__device__ Accumulated<E> dot(const E *a, int64_t aStride, const E *b, int64_t bStride,
                              int64_t count) {
  Accumulated<E> sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += a[i * aStride] * b[i * bStride];
  return sum;
}

/// The half-open range [begin, end).
struct IndexRange {
  int64_t begin, end;
};
__device__ DimShard queryPositions(const Row &row, const AttentionShape &s) {
  return queryPositions(s, row.outer, row.kvHead);
}
/// Keys that a query may attend to, ignoring documents.
__device__ IndexRange getKeyRange(const Row &query, const AttentionShape &s) {
  const int64_t position = queryPositions(query, s).toGlobal(query.position);
  const DimShard positions = keyPositions(s);
  IndexRange range{0, s.keys};
  if (s.window)
    range.begin = positions.lowerBound(position - s.window + 1);
  if (s.causal || s.window)
    range.end = positions.lowerBound(position + (s.causal ? 1 : s.window));
  return range;
}
/// Queries that may attend to a key, ignoring documents.
__device__ IndexRange getQueryRange(const Row &key, const AttentionShape &s) {
  const DimShard positions = queryPositions(key, s);
  const int64_t position = keyPositions(s).toGlobal(key.position);
  IndexRange range{0, s.queries};
  if (s.causal || s.window)
    range.begin = positions.lowerBound(s.causal ? position : position - s.window + 1);
  if (s.window)
    range.end = positions.lowerBound(position + s.window);
  return range;
}
__device__ bool inOneDocument(const Row &row, int64_t query, int64_t key, const AttentionShape &s) {
  return !s.documents ||
         s.documents[offsetAt(row, queryPositions(row, s).toGlobal(query), s.ofDocuments)] ==
             s.documents[offsetAt(row, keyPositions(s).toGlobal(key), s.ofDocuments)];
}

/// The score of a product q . k, and in `slope` the derivative of the score by the product.
template <typename T> __device__ T computeScore(T product, const AttentionShape &s, T &slope) {
  T score = T(s.scale) * product;
  slope = T(s.scale);
  if (s.softCap > 0) {
    const T t = tanh(score / T(s.softCap));
    score = T(s.softCap) * t;
    slope *= T(1) - t * t;
  }
  return score;
}

template <typename T> __device__ T lowest();
template <> __device__ float lowest<float>() {
  return -3.402823466e38f;
}
template <> __device__ double lowest<double>() {
  return -1.7976931348623157e308;
}

/// Merges over the lanes of a warp the largest scores and the sums of exponentials relative to
/// them.
template <typename T> __device__ void mergeLanes(T &top, T &total) {
  for (int step = warpSize32 / 2; step > 0; step /= 2) {
    T otherTop = __shfl_xor_sync(~0u, top, step), otherTotal = __shfl_xor_sync(~0u, total, step);
    T highest = top > otherTop ? top : otherTop;
    total = total * exp(top - highest) + otherTotal * exp(otherTop - highest);
    top = highest;
  }
}

/// The score of a query and key number `key`.
template <typename E>
__device__ Accumulated<E> scoreAt(const Row &row, int64_t key, const AttentionShape &s,
                                  const E *query, const E *k, Accumulated<E> &slope) {
  return computeScore(dot(query, s.q.element, k + offsetAt(row, key, s.k), s.k.element, s.head), s,
                      slope);
}

/// The elements of a vector from `first` that the lanes of a warp hold. The vector has `size`
/// elements, `stride` apart in memory.
template <typename T> struct Spread {
  int64_t first;
  T partial[perLane] = {};
  tm::Total<T> total[perLane] = {};

  template <typename E>
  __device__ void add(T factor, const E *vector, int64_t stride, int64_t size) {
    for (int i = 0; i < perLane; ++i)
      if (int64_t d = first + threadIdx.x + i * warpSize32; d < size)
        partial[i] += factor * vector[d * stride];
  }
  /// After a warp's worth of terms, adds the partial sums to the totals (blocked_sum.h).
  __device__ void endBlock() {
    for (int i = 0; i < perLane; ++i) {
      total[i] += partial[i];
      partial[i] = 0;
    }
  }
  template <typename E> __device__ void store(E *to, int64_t stride, int64_t size) const {
    for (int i = 0; i < perLane; ++i)
      if (int64_t d = first + threadIdx.x + i * warpSize32; d < size)
        to[d * stride] = static_cast<T>(total[i]);
  }
};

/// One warp per query: its lanes divide the keys for the maximum and the sum of exponentials, and
/// then the elements of the result.
template <typename E>
__global__ void forwardKernel(AttentionShape s, const E *q, const E *k, const E *v, E *out,
                              Accumulated<E> *lse) {
  using T = Accumulated<E>;
  int64_t index = int64_t{blockIdx.x} * warpsPerBlock + threadIdx.y;
  if (index >= s.outer * s.queries * s.kvHeads * s.group)
    return;
  Row row = getRow(index, s, s.queries, s.group), keyRow = row;
  keyRow.g = 0;
  const E *query = q + getOffset(row, s.q);
  const IndexRange visible = getKeyRange(row, s);
  T top = lowest<T>(), slope;
  tm::Sum<T> total;
  for (int64_t j = visible.begin + threadIdx.x; j < visible.end; j += warpSize32) {
    if (!inOneDocument(keyRow, row.position, j, s))
      continue;
    T score = scoreAt(keyRow, j, s, query, k, slope);
    if (score > top) {
      total.scale(exp(top - score));
      top = score;
    }
    total.add(exp(score - top));
  }
  T denominator = static_cast<T>(total.get());
  mergeLanes(top, denominator);
  for (int64_t first = 0; first < s.valueHead; first += elementsPerPass) {
    Spread<T> sum{first};
    for (int64_t j0 = visible.begin; j0 < visible.end; j0 += warpSize32) {
      int64_t j = j0 + threadIdx.x;
      T laneValue = j < visible.end && inOneDocument(keyRow, row.position, j, s)
                        ? exp(scoreAt(keyRow, j, s, query, k, slope) - top) / denominator
                        : T(0);
      for (int lane = 0; lane < warpSize32 && j0 + lane < visible.end; ++lane) {
        T p = __shfl_sync(~0u, laneValue, lane);
        sum.add(p, v + offsetAt(keyRow, j0 + lane, s.v), s.v.element, s.valueHead);
      }
      sum.endBlock();
    }
    sum.store(out + getOffset(row, s.out), s.out.element, s.valueHead);
  }
  if (lse && threadIdx.x == 0)
    lse[getOffset(row, s.lse)] = top + log(denominator);
}

/// The operands of the backward pass.
template <typename E> struct BackwardTensors {
  const E *dOut, *q, *k, *v, *out;
  const Accumulated<E> *lse, *lseCotangent;
};

/// The probability `p` of a query and a key, and the cotangent of their product q . k: p (dout . v
/// - dout . out + dl) times the slope of the score, with dl the cotangent of lse.
template <typename E>
__device__ Accumulated<E> pairGradient(const BackwardTensors<E> &c, const AttentionShape &s,
                                       const Row &row, const Row &keyRow, int64_t key,
                                       Accumulated<E> &p) {
  using T = Accumulated<E>;
  const E *cotangent = c.dOut + getOffset(row, s.out);
  T slope;
  T score = scoreAt(keyRow, key, s, c.q + getOffset(row, s.q), c.k, slope);
  p = exp(score - c.lse[getOffset(row, s.lse)]);
  T delta =
      dot(cotangent, s.out.element, c.out + getOffset(row, s.out), s.out.element, s.valueHead);
  if (c.lseCotangent)
    delta -= c.lseCotangent[getOffset(row, s.lse)];
  T dp = dot(cotangent, s.out.element, c.v + offsetAt(keyRow, key, s.v), s.v.element, s.valueHead);
  return p * (dp - delta) * slope;
}

/// One warp per query: dq = sum_j ds_j k_j.
template <typename E>
__global__ void queryGradientKernel(AttentionShape s, BackwardTensors<E> c, E *dq) {
  using T = Accumulated<E>;
  int64_t index = int64_t{blockIdx.x} * warpsPerBlock + threadIdx.y;
  if (index >= s.outer * s.queries * s.kvHeads * s.group)
    return;
  Row row = getRow(index, s, s.queries, s.group), keyRow = row;
  keyRow.g = 0;
  const IndexRange visible = getKeyRange(row, s);
  for (int64_t first = 0; first < s.head; first += elementsPerPass) {
    Spread<T> sum{first};
    for (int64_t j0 = visible.begin; j0 < visible.end; j0 += warpSize32) {
      int64_t j = j0 + threadIdx.x;
      T laneValue = 0, p;
      if (j < visible.end && inOneDocument(keyRow, row.position, j, s))
        laneValue = pairGradient(c, s, row, keyRow, j, p);
      for (int lane = 0; lane < warpSize32 && j0 + lane < visible.end; ++lane) {
        T ds = __shfl_sync(~0u, laneValue, lane);
        sum.add(ds, c.k + offsetAt(keyRow, j0 + lane, s.k), s.k.element, s.head);
      }
      sum.endBlock();
    }
    sum.store(dq + getOffset(row, s.q), s.q.element, s.head);
  }
}

/// One warp per key: dk and dv, over all query heads and positions that attend to it.
template <typename E>
__global__ void keyGradientKernel(AttentionShape s, BackwardTensors<E> c, E *dk, E *dv) {
  using T = Accumulated<E>;
  int64_t index = int64_t{blockIdx.x} * warpsPerBlock + threadIdx.y;
  if (index >= s.outer * s.keys * s.kvHeads)
    return;
  const Row keyRow = getRow(index, s, s.keys, 1);
  const IndexRange attending = getQueryRange(keyRow, s);
  for (int64_t first = 0; first < s.head || first < s.valueHead; first += elementsPerPass) {
    Spread<T> keySum{first}, valueSum{first};
    for (int64_t g = 0; g < s.group; ++g)
      for (int64_t i0 = attending.begin; i0 < attending.end; i0 += warpSize32) {
        Row row = keyRow;
        row.g = g;
        row.position = i0 + threadIdx.x;
        T p = 0, ds = 0;
        if (row.position < attending.end && inOneDocument(keyRow, row.position, keyRow.position, s))
          ds = pairGradient(c, s, row, keyRow, keyRow.position, p);
        for (int lane = 0; lane < warpSize32 && i0 + lane < attending.end; ++lane) {
          T pLane = __shfl_sync(~0u, p, lane), dsLane = __shfl_sync(~0u, ds, lane);
          row.position = i0 + lane;
          valueSum.add(pLane, c.dOut + getOffset(row, s.out), s.out.element, s.valueHead);
          keySum.add(dsLane, c.q + getOffset(row, s.q), s.q.element, s.head);
        }
        valueSum.endBlock();
        keySum.endBlock();
      }
    keySum.store(dk + getOffset(keyRow, s.k), s.k.element, s.head);
    valueSum.store(dv + getOffset(keyRow, s.v), s.v.element, s.valueHead);
  }
}

unsigned blocksFor(int64_t rows) {
  return static_cast<unsigned>((rows + warpsPerBlock - 1) / warpsPerBlock);
}

template <typename E>
cudaError_t forward(const AttentionShape &s, const E *q, const E *k, const E *v, E *out,
                    Accumulated<E> *lse, cudaStream_t stream) {
  dim3 threads(warpSize32, warpsPerBlock);
  int64_t rows = s.outer * s.queries * s.kvHeads * s.group;
  forwardKernel<E><<<blocksFor(rows), threads, 0, stream>>>(s, q, k, v, out, lse);
  return cudaGetLastError();
}

template <typename E>
cudaError_t backward(const AttentionShape &s, const BackwardTensors<E> &c, E *dq, E *dk, E *dv,
                     cudaStream_t stream) {
  dim3 threads(warpSize32, warpsPerBlock);
  int64_t pairs = s.outer * s.kvHeads;
  queryGradientKernel<E><<<blocksFor(pairs * s.queries * s.group), threads, 0, stream>>>(s, c, dq);
  keyGradientKernel<E><<<blocksFor(pairs * s.keys), threads, 0, stream>>>(s, c, dk, dv);
  return cudaGetLastError();
}

template <typename E> cudaError_t loadKernels() {
  cudaFuncAttributes attributes;
  cudaError_t status = cudaFuncGetAttributes(&attributes, forwardKernel<E>);
  if (status == cudaSuccess)
    status = cudaFuncGetAttributes(&attributes, queryGradientKernel<E>);
  if (status == cudaSuccess)
    status = cudaFuncGetAttributes(&attributes, keyGradientKernel<E>);
  return status;
}

} // namespace

cudaError_t loadAttention() {
  cudaError_t status = loadKernels<bf16>();
  if (status == cudaSuccess)
    status = loadKernels<float>();
  return status == cudaSuccess ? loadKernels<double>() : status;
}

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

cudaError_t attentionBackward(const AttentionShape &shape, const float *dOut, const float *q,
                              const float *k, const float *v, const float *out, const float *lse,
                              const float *lseCotangent, float *dq, float *dk, float *dv,
                              cudaStream_t stream) {
  return backward<float>(shape, {dOut, q, k, v, out, lse, lseCotangent}, dq, dk, dv, stream);
}

cudaError_t attentionBackward(const AttentionShape &shape, const double *dOut, const double *q,
                              const double *k, const double *v, const double *out,
                              const double *lse, const double *lseCotangent, double *dq, double *dk,
                              double *dv, cudaStream_t stream) {
  return backward<double>(shape, {dOut, q, k, v, out, lse, lseCotangent}, dq, dk, dv, stream);
}

cudaError_t attentionBackward(const AttentionShape &shape, const bf16 *dOut, const bf16 *q,
                              const bf16 *k, const bf16 *v, const bf16 *out, const float *lse,
                              const float *lseCotangent, bf16 *dq, bf16 *dk, bf16 *dv,
                              cudaStream_t stream) {
  return backward<bf16>(shape, {dOut, q, k, v, out, lse, lseCotangent}, dq, dk, dv, stream);
}

} // namespace titan::rt::cuda
