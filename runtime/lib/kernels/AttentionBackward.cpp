#include "Panel.h"
#include "Scratch.h"

#include "titan/runtime/attention.h"
#include "titan/runtime/vector_math.h"

#include <algorithm>

namespace titan::rt {

namespace {

constexpr int64_t queryBlock = 64;

/// Pointers to position 0 of one head's rows.
template <typename E> struct BackwardBuffers {
  const E *q, *k, *v, *out;
  const Accumulated<E> *lse;
  const E *dout;
  E *dq, *dk, *dv;
};

/// The backward pass of one (outer, kv head). With p the probabilities and o the output:
///   dv_j = sum_i p_ij dout_i,  ds_ij = p_ij (dout_i . v_j - dout_i . o_i),
///   dq_i = scale sum_j ds_ij k_j,  dk_j = scale sum_i ds_ij q_i
/// Memory holds E.
template <typename E> class BackwardHead {
  using T = Accumulated<E>;
  static constexpr int64_t lanes = Lanes<T>::block;

public:
  explicit BackwardHead(const AttentionShape &shape)
      : s(shape), rows(s.group * s.seq),
        width((s.head + Lanes<T>::vector - 1) / Lanes<T>::vector * Lanes<T>::vector) {
    int64_t sizes[] = {s.seq * width,     s.seq * s.head, rows * s.head,  rows * s.head,
                       rows * width,      rows,           rows,           s.head * lanes,
                       s.head * lanes,    s.head * lanes, s.head * lanes, queryBlock * lanes,
                       queryBlock * lanes};
    T **pieces[] = {&keys,  &values,  &queries, &douts,    &dqueries, &lse2, &delta,
                    &keysT, &valuesT, &dkeysT,  &dvaluesT, &p,        &ds};
    size_t bytes = 0;
    for (int64_t size : sizes)
      bytes += Scratch::roundUp(static_cast<size_t>(size) * sizeof(T));
    Scratch &scratch = Scratch::ofThread(bytes);
    for (size_t i = 0; i < std::size(sizes); ++i)
      *pieces[i] = scratch.take<T>(sizes[i]);
  }

  void run(const BackwardBuffers<E> &b) {
    load(b);
    for (int64_t j0 = 0; j0 < s.seq; j0 += lanes)
      keyBlock(b, j0, std::min(lanes, s.seq - j0));
    T scale = static_cast<T>(s.scale);
    for (int64_t g = 0; g < s.group; ++g)
      for (int64_t i = 0; i < s.seq; ++i) {
        E *to = b.dq + queryRow(g, i) * s.head;
        const T *from = dqueries + (g * s.seq + i) * width;
        for (int64_t d = 0; d < s.head; ++d)
          to[d] = from[d] * scale;
      }
  }

private:
  /// Rows between position 0 of the first query head and position i of head g.
  int64_t queryRow(int64_t g, int64_t i) const { return i * s.kvHeads * s.group + g; }

  /// Contiguous copies of everything, and delta_i = dout_i . out_i.
  void load(const BackwardBuffers<E> &b) {
    int64_t stride = s.kvHeads * s.head;
    std::fill_n(keys, s.seq * width, T(0));
    std::fill_n(dqueries, rows * width, T(0));
    for (int64_t j = 0; j < s.seq; ++j) {
      std::copy_n(b.k + j * stride, s.head, keys + j * width);
      std::copy_n(b.v + j * stride, s.head, values + j * s.head);
    }
    for (int64_t g = 0; g < s.group; ++g)
      for (int64_t i = 0; i < s.seq; ++i) {
        int64_t from = queryRow(g, i), to = g * s.seq + i;
        std::copy_n(b.q + from * s.head, s.head, queries + to * s.head);
        std::copy_n(b.dout + from * s.head, s.head, douts + to * s.head);
        lse2[to] = b.lse[from] * T(1.44269504088896340736);
        T sum = 0;
        for (int64_t d = 0; d < s.head; ++d)
          sum += T(b.dout[from * s.head + d]) * T(b.out[from * s.head + d]);
        delta[to] = sum;
      }
  }

  /// `count` keys from j0 on, one a lane, against all queries that see them.
  void keyBlock(const BackwardBuffers<E> &b, int64_t j0, int64_t count) {
    T factor = static_cast<T>(s.scale * 1.44269504088896340736);
    std::fill_n(keysT, s.head * lanes, T(0));
    std::fill_n(valuesT, s.head * lanes, T(0));
    for (int64_t lane = 0; lane < count; ++lane)
      for (int64_t d = 0; d < s.head; ++d) {
        keysT[d * lanes + lane] = keys[(j0 + lane) * width + d] * factor;
        valuesT[d * lanes + lane] = values[(j0 + lane) * s.head + d];
      }
    std::fill_n(dkeysT, s.head * lanes, T(0));
    std::fill_n(dvaluesT, s.head * lanes, T(0));
    for (int64_t g = 0; g < s.group; ++g)
      for (int64_t i0 = s.causal ? j0 : 0; i0 < s.seq; i0 += queryBlock)
        queryStep(g * s.seq, i0, std::min(queryBlock, s.seq - i0), j0, count);
    T scale = static_cast<T>(s.scale);
    for (int64_t lane = 0; lane < count; ++lane) {
      E *dk = b.dk + (j0 + lane) * s.kvHeads * s.head,
        *dv = b.dv + (j0 + lane) * s.kvHeads * s.head;
      for (int64_t d = 0; d < s.head; ++d) {
        dk[d] = dkeysT[d * lanes + lane] * scale;
        dv[d] = dvaluesT[d * lanes + lane];
      }
    }
  }

  /// `n` queries from i0 on of the head whose rows begin at `base`.
  void queryStep(int64_t base, int64_t i0, int64_t n, int64_t j0, int64_t count) {
    const T *q = queries + (base + i0) * s.head, *dout = douts + (base + i0) * s.head;
    panel<false, T>(p, keysT, s.head, {q, s.head, 1}, n);
    panel<false, T>(ds, valuesT, s.head, {dout, s.head, 1}, n);
    for (int64_t i = 0; i < n; ++i) {
      T offset = lse2[base + i0 + i], mean = delta[base + i0 + i];
      T *pRow = p + i * lanes, *dsRow = ds + i * lanes;
#pragma omp simd
      for (int64_t lane = 0; lane < lanes; ++lane)
        pRow[lane] = vexp2NonPositive(pRow[lane] - offset);
      if (s.causal && i0 + i < j0 + lanes - 1) // keys after the query
        for (int64_t lane = i0 + i - j0 + 1; lane < lanes; ++lane)
          pRow[lane] = 0;
#pragma omp simd
      for (int64_t lane = 0; lane < lanes; ++lane)
        dsRow[lane] = pRow[lane] * (dsRow[lane] - mean);
    }
    panel<true, T>(dvaluesT, p, n, {dout, 1, s.head}, s.head);
    panel<true, T>(dkeysT, ds, n, {q, 1, s.head}, s.head);
    widePanelAdd<T>(dqueries + (base + i0) * width, keys + j0 * width, width, count, {ds, lanes, 1},
                    n);
  }

  const AttentionShape &s;
  int64_t rows;                           // query heads of this kv head times positions
  int64_t width;                          // head, rounded up to whole vectors
  T *keys, *values;                       // [seq][width], [seq][head]
  T *queries, *douts, *dqueries;          // [rows][head], [rows][head], [rows][width]
  T *lse2, *delta;                        // [rows]; lse in units of log2
  T *keysT, *valuesT, *dkeysT, *dvaluesT; // [head][lanes]
  T *p, *ds;                              // [queryBlock][lanes]
};

template <typename E> void backward(const AttentionShape &shape, const BackwardBuffers<E> &all) {
  int64_t heads = shape.outer * shape.kvHeads;
#pragma omp parallel
  {
    BackwardHead<E> head(shape);
#pragma omp for schedule(static)
    for (int64_t i = 0; i < heads; ++i) {
      int64_t kvRow = i / shape.kvHeads * shape.seq * shape.kvHeads + i % shape.kvHeads;
      int64_t kv = kvRow * shape.head, query = kv * shape.group;
      head.run({all.q + query, all.k + kv, all.v + kv, all.out + query,
                all.lse + kvRow * shape.group, all.dout + query, all.dq + query, all.dk + kv,
                all.dv + kv});
    }
  }
}

} // namespace

void attentionBackward(const AttentionShape &shape, const float *q, const float *k, const float *v,
                       const float *out, const float *lse, const float *dout, float *dq, float *dk,
                       float *dv) {
  backward<float>(shape, {q, k, v, out, lse, dout, dq, dk, dv});
}

void attentionBackward(const AttentionShape &shape, const double *q, const double *k,
                       const double *v, const double *out, const double *lse, const double *dout,
                       double *dq, double *dk, double *dv) {
  backward<double>(shape, {q, k, v, out, lse, dout, dq, dk, dv});
}

void attentionBackward(const AttentionShape &shape, const bf16 *q, const bf16 *k, const bf16 *v,
                       const bf16 *out, const float *lse, const bf16 *dout, bf16 *dq, bf16 *dk,
                       bf16 *dv) {
  backward<bf16>(shape, {q, k, v, out, lse, dout, dq, dk, dv});
}

} // namespace titan::rt
