#include "Panel.h"
#include "Scratch.h"

#include "titan/runtime/attention.h"
#include "titan/runtime/vector_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace titan::rt {

namespace {

constexpr int64_t keyBlock = 64;

/// The forward pass of one (outer, kv head): all its query heads and positions. Memory holds E.
template <typename E> class ForwardHead {
  using T = Accumulated<E>;
  static constexpr int64_t lanes = Lanes<T>::block;
  using Vector = typename Lanes<T>::Vector;

public:
  explicit ForwardHead(const AttentionShape &shape) : s(shape) {
    size_t sizes[] = {size_t(s.seq * s.head), size_t(s.seq * s.head),   size_t(s.head * lanes),
                      size_t(s.head * lanes), size_t(keyBlock * lanes), size_t(3 * lanes)};
    size_t bytes = 0;
    for (size_t size : sizes)
      bytes += Scratch::roundUp(size * sizeof(T));
    Scratch &scratch = Scratch::ofThread(bytes);
    keys = scratch.take<T>(s.seq * s.head);
    values = scratch.take<T>(s.seq * s.head);
    queries = scratch.take<T>(s.head * lanes);
    sums = scratch.take<T>(s.head * lanes);
    scores = scratch.take<T>(keyBlock * lanes);
    highest = scratch.take<T>(lanes);
    total = scratch.take<T>(lanes);
    rescale = scratch.take<T>(lanes);
  }

  void run(int64_t outer, int64_t kvHead, const E *q, const E *k, const E *v, E *out, T *lse) {
    int64_t keyStride = s.kvHeads * s.head;
    copyRows(k + (outer * s.seq * s.kvHeads + kvHead) * s.head, keyStride, keys);
    copyRows(v + (outer * s.seq * s.kvHeads + kvHead) * s.head, keyStride, values);
    for (int64_t g = 0; g < s.group; ++g) {
      int64_t first = (outer * s.seq * s.kvHeads + kvHead) * s.group + g; // row of position 0
      for (int64_t i0 = 0; i0 < s.seq; i0 += lanes)
        queryBlock(i0, q + first * s.head, out + first * s.head, lse ? lse + first : nullptr);
    }
  }

private:
  /// Contiguous rows, because strides that are powers of two thrash the cache.
  void copyRows(const E *from, int64_t stride, T *to) const {
    for (int64_t j = 0; j < s.seq; ++j)
      std::copy_n(from + j * stride, s.head, to + j * s.head);
  }

  /// `lanes` queries from i0 on, one a lane; q, out and lse point at position 0 of their head.
  void queryBlock(int64_t i0, const E *q, E *out, T *lse) {
    int64_t rowStride = s.kvHeads * s.group * s.head;
    int64_t count = std::min(lanes, s.seq - i0);
    loadQueries(q + i0 * rowStride, rowStride, count);
    std::fill_n(highest, lanes, -std::numeric_limits<T>::infinity());
    std::fill_n(total, lanes, T(0));
    std::fill_n(sums, s.head * lanes, T(0));
    int64_t end = s.causal ? std::min(s.seq, i0 + lanes) : s.seq;
    for (int64_t j0 = 0; j0 < end; j0 += keyBlock)
      keyStep(i0, j0, std::min(keyBlock, end - j0));
    for (int64_t lane = 0; lane < count; ++lane) {
      E *row = out + (i0 + lane) * rowStride;
      T inverse = T(1) / total[lane];
      for (int64_t d = 0; d < s.head; ++d)
        row[d] = sums[d * lanes + lane] * inverse;
      if (lse)
        lse[(i0 + lane) * s.kvHeads * s.group] =
            highest[lane] * T(0.69314718055994530942) + std::log(total[lane]);
    }
  }

  /// queries[d][lane], scaled so that scores come out in units of log2.
  void loadQueries(const E *q, int64_t rowStride, int64_t count) {
    T factor = static_cast<T>(s.scale * 1.44269504088896340736);
    if (count < lanes)
      std::fill_n(queries, s.head * lanes, T(0));
    for (int64_t lane = 0; lane < count; ++lane)
      for (int64_t d = 0; d < s.head; ++d)
        queries[d * lanes + lane] = q[lane * rowStride + d] * factor;
  }

  /// Adds `count` keys from j0 on to the running maximum, sum and weighted values.
  void keyStep(int64_t i0, int64_t j0, int64_t count) {
    panel<false, T>(scores, queries, s.head, {keys + j0 * s.head, s.head, 1}, count);
    if (s.causal && j0 + count - 1 > i0)
      maskAboveDiagonal(i0, j0, count);
    raiseMaximum(count);
    for (int64_t j = 0; j < count; ++j) {
      T *row = scores + j * lanes;
#pragma omp simd
      for (int64_t lane = 0; lane < lanes; ++lane)
        row[lane] = vexp2NonPositive(row[lane] - highest[lane]);
    }
    addToTotal(count);
    if (j0 > 0)
      for (int64_t d = 0; d < s.head; ++d)
#pragma omp simd
        for (int64_t lane = 0; lane < lanes; ++lane)
          sums[d * lanes + lane] *= rescale[lane];
    panel<true, T>(sums, scores, count, {values + j0 * s.head, 1, s.head}, s.head);
  }

  void maskAboveDiagonal(int64_t i0, int64_t j0, int64_t count) {
    for (int64_t j = std::max(j0, i0 + 1); j < j0 + count; ++j)
      std::fill_n(scores + (j - j0) * lanes, std::min(lanes, j - i0),
                  -std::numeric_limits<T>::infinity());
  }

  /// highest = max(highest, scores over keys); rescale = 2^(old - new).
  void raiseMaximum(int64_t count) {
    auto *old = reinterpret_cast<Vector *>(highest);
    Vector a = old[0], b = old[1];
    for (int64_t j = 0; j < count; ++j) {
      const auto *row = reinterpret_cast<const Vector *>(scores + j * lanes);
      a = row[0] > a ? row[0] : a;
      b = row[1] > b ? row[1] : b;
    }
    auto *factor = reinterpret_cast<Vector *>(rescale);
    factor[0] = old[0] - a;
    factor[1] = old[1] - b;
    old[0] = a;
    old[1] = b;
#pragma omp simd
    for (int64_t lane = 0; lane < lanes; ++lane)
      rescale[lane] = vexp2NonPositive(rescale[lane]);
  }

  void addToTotal(int64_t count) {
    Vector a{}, b{};
    for (int64_t j = 0; j < count; ++j) {
      const auto *row = reinterpret_cast<const Vector *>(scores + j * lanes);
      a += row[0];
      b += row[1];
    }
    auto *sum = reinterpret_cast<Vector *>(total);
    const auto *factor = reinterpret_cast<const Vector *>(rescale);
    sum[0] = sum[0] * factor[0] + a;
    sum[1] = sum[1] * factor[1] + b;
  }

  const AttentionShape &s;
  T *keys, *values;             // [seq][head]
  T *queries, *sums;            // [head][lanes]
  T *scores;                    // [keyBlock][lanes], then probabilities
  T *highest, *total, *rescale; // [lanes]
};

template <typename E>
void forward(const AttentionShape &shape, const E *q, const E *k, const E *v, E *out,
             Accumulated<E> *lse) {
  int64_t heads = shape.outer * shape.kvHeads;
#pragma omp parallel
  {
    ForwardHead<E> head(shape);
#pragma omp for schedule(static)
    for (int64_t i = 0; i < heads; ++i)
      head.run(i / shape.kvHeads, i % shape.kvHeads, q, k, v, out, lse);
  }
}

} // namespace

void attentionForward(const AttentionShape &shape, const float *q, const float *k, const float *v,
                      float *out, float *lse) {
  forward(shape, q, k, v, out, lse);
}

void attentionForward(const AttentionShape &shape, const double *q, const double *k,
                      const double *v, double *out, double *lse) {
  forward(shape, q, k, v, out, lse);
}

void attentionForward(const AttentionShape &shape, const bf16 *q, const bf16 *k, const bf16 *v,
                      bf16 *out, float *lse) {
  forward(shape, q, k, v, out, lse);
}

} // namespace titan::rt
