// The backward pass of attention on CPUs (Attention.h).
#include "AttentionMask.h"
#include "PackedBackward.h"
#include "Scratch.h"
#include "VectorBackward.h"

#include "Attention.h"
#include "base/math/VectorMath.h"

#include <algorithm>

namespace titan::rt {

namespace {

constexpr int64_t queryBlock = attention_scratch::kQueryBlock;

constexpr double kLog2E = 1.44269504088896340736;

template <typename E> struct BackwardTensors {
  const E *q, *k, *v, *out;
  const Accumulated<E> *lse;
  const E *dout;
  const Accumulated<E> *lseCotangent;
  E *dq, *dk, *dv;
};

/// Which gradients a pass over keys and queries computes. With few pairs, threads divide the
/// queries of a pass for dq, then the keys of a pass for dk and dv.
enum class Wanted { All, Queries, Keys };

/// The backward pass of one (outer, kv head) pair. With p the probabilities, o the output and dl
/// the cotangent of the log-sum-exp:
///   dv_j = sum_i p_ij dout_i,  ds_ij = p_ij (dout_i . v_j - dout_i . o_i + dl_i),
///   dq_i = scale sum_j ds_ij k_j,  dk_j = scale sum_i ds_ij q_i
/// With a cap, the score is cap * t with t = tanh(scale q . k / cap), and ds gains the factor 1 -
/// t^2. Tensors have elements of type E; the arithmetic is in T.
template <typename E, typename Products> class BackwardHead {
  using T = Accumulated<E>;
  static constexpr int64_t lanes = Lanes<T>::block;

public:
  BackwardHead(const AttentionShape &shape, const BackwardTensors<E> &all)
      : s(shape), all(all), mask(shape, 0, 0), products(shape, divideScratch()) {}

  /// The gradients of these queries (`Queries`) or of these blocks of keys (`Keys`). With both full
  /// ranges, all gradients.
  template <Wanted wanted> void run(int64_t pair, IndexRange someQueries, IndexRange keyBlocks) {
    load(pair);
    if (wanted != Wanted::Keys)
      products.clearQueries(someQueries);
    for (int64_t block = keyBlocks.begin; block < keyBlocks.end; ++block)
      keyBlock<wanted>({block * lanes, std::min(s.keys, (block + 1) * lanes)}, someQueries);
    if (wanted != Wanted::Keys)
      storeQueries(someQueries);
  }

private:
  /// Divides the planned scratch: among the products, and for the members of this class.
  BackwardMemory<T> divideScratch() {
    attention_scratch::Sizes sizes = scratchSizes<T>(s);
    Scratch scratch(s.scratch, attention_scratch::backwardBytes(sizes));
    BackwardMemory<T> memory;
    T **buffers[] = {&memory.queries,
                     &memory.douts,
                     &memory.dqueries,
                     &memory.keys,
                     &memory.keysT,
                     &memory.valuesT,
                     &memory.dkeysT,
                     &memory.dvaluesT,
                     &lse2,
                     &delta,
                     &p,
                     &ds};
    scratch.take(attention_scratch::backwardBuffers(sizes), buffers);
    return memory;
  }

  int64_t getStart(const AttentionStrides &at) const {
    return outer * at.outer + kvHead * at.kvHead;
  }

  /// Packs the operands, and computes delta_i = dout_i . o_i - dl_i. Does nothing if the pair is
  /// loaded.
  void load(int64_t pair) {
    if (pair == loaded)
      return;
    loaded = pair;
    outer = pair / s.kvHeads;
    kvHead = pair % s.kvHeads;
    mask = AttentionMask(s, outer, kvHead);
    products.loadKeys(all.k + getStart(s.k), all.v + getStart(s.v));
    for (int64_t g = 0; g < s.group; ++g) {
      products.loadQueries(g, all.q + getStart(s.q) + g * s.q.group,
                           all.dout + getStart(s.out) + g * s.out.group);
      for (int64_t i = 0; i < s.queries; ++i)
        loadRow(g, i);
    }
  }

  void loadRow(int64_t g, int64_t i) {
    auto at = [&](const AttentionStrides &strides) {
      return getStart(strides) + g * strides.group + i * strides.position;
    };
    const E *out = all.out + at(s.out), *dout = all.dout + at(s.out);
    const T product = s.out.element == 1 ? innerProduct(out, dout, std::integral_constant<int, 1>())
                                         : innerProduct(out, dout, s.out.element);
    lse2[g * s.queries + i] = all.lse[at(s.lse)] * T(kLog2E);
    delta[g * s.queries + i] = all.lseCotangent ? product - all.lseCotangent[at(s.lse)] : product;
  }

  /// a . b over the elements of a head, summed in lanes to break the dependence chain.
  template <typename Stride> T innerProduct(const E *a, const E *b, Stride stride) const {
    constexpr int64_t width = Lanes<T>::vector;
    T sums[width] = {};
    int64_t d = 0;
    for (; d + width <= s.valueHead; d += width)
#pragma omp simd
      for (int64_t l = 0; l < width; ++l)
        sums[l] += static_cast<T>(a[(d + l) * stride]) * static_cast<T>(b[(d + l) * stride]);
    for (int64_t l = 0; d + l < s.valueHead; ++l)
      sums[l] += static_cast<T>(a[(d + l) * stride]) * static_cast<T>(b[(d + l) * stride]);
    for (int64_t half = width / 2; half > 0; half /= 2)
      for (int64_t l = 0; l < half; ++l)
        sums[l] += sums[l + half];
    return sums[0];
  }

  void storeQueries(IndexRange queries) {
    for (int64_t g = 0; g < s.group; ++g)
      for (int64_t i = queries.begin; i < queries.end; ++i)
        products.storeQuery(g, i, static_cast<T>(s.scale),
                            all.dq + getStart(s.q) + g * s.q.group + i * s.q.position);
  }

  /// One block of keys, one per lane, against the queries in `range` that may attend to them.
  template <Wanted wanted> void keyBlock(IndexRange block, IndexRange range) {
    int64_t count = block.end - block.begin;
    products.beginKeys(block);
    IndexRange attending = mask.getQueryRange(block);
    attending = {std::max(attending.begin, range.begin), std::min(attending.end, range.end)};
    // Panels start at multiples of `lanes`; queries before the first visible one are masked.
    const int64_t firstQuery =
        attending.isEmpty() ? attending.end : attending.begin / lanes * lanes;
    for (int64_t g = 0; g < s.group; ++g)
      for (int64_t i0 = firstQuery; i0 < attending.end; i0 += queryBlock) {
        IndexRange queries{i0, std::min(i0 + queryBlock, attending.end)};
        if (!mask.isFullyMasked(queries, block))
          queryStep<wanted>(g, queries, block);
      }
    if (wanted == Wanted::Queries)
      return;
    products.storeKeys(static_cast<T>(s.scale), count,
                       all.dk + getStart(s.k) + block.begin * s.k.position,
                       all.dv + getStart(s.v) + block.begin * s.v.position);
  }

  /// The terms of a block of queries of head g and a block of keys.
  template <Wanted wanted> void queryStep(int64_t g, IndexRange queries, IndexRange block) {
    const ScoreTile at{g, queries.begin, queries.end - queries.begin, block.begin,
                       block.end - block.begin};
    products.score(at, p, ds);
    differentiateRows(g, queries, block);
    if (wanted != Wanted::Queries)
      products.addToKeys(at, p, ds);
    if (wanted != Wanted::Keys)
      products.addToQueries(at, ds);
  }

  void differentiateRows(int64_t g, IndexRange queries, IndexRange block) {
    int64_t first = g * s.queries + queries.begin, n = queries.end - queries.begin;
    bool isUnmasked = mask.isUnmasked(queries, block);
    for (int64_t i = 0; i < n; ++i) {
      T *pRow = p + i * lanes, *dsRow = ds + i * lanes;
      if (s.softCap > 0)
        differentiateCapped(pRow, dsRow, lse2[first + i], delta[first + i]);
      else
        differentiate(pRow, dsRow, lse2[first + i], delta[first + i]);
      if (!isUnmasked)
        hide(queries.begin + i, block, pRow, dsRow);
    }
  }

  /// Replaces the scores of a row by probabilities, and the cotangents of probabilities by those of
  /// scores. `lse` is in units of log2.
  static void differentiate(T *pRow, T *dsRow, T lse, T delta) {
#pragma omp simd
    for (int64_t lane = 0; lane < lanes; ++lane) {
      T probability = vexp2NonPositive(pRow[lane] - lse);
      pRow[lane] = probability;
      dsRow[lane] = probability * (dsRow[lane] - delta);
    }
  }

  void differentiateCapped(T *pRow, T *dsRow, T lse, T delta) const {
    T cap = static_cast<T>(s.softCap * kLog2E);
#pragma omp simd
    for (int64_t lane = 0; lane < lanes; ++lane) {
      T t = vtanh(pRow[lane]);
      T probability = vexp2NonPositive(cap * t - lse);
      pRow[lane] = probability;
      dsRow[lane] = probability * (dsRow[lane] - delta) * (T(1) - t * t);
    }
  }

  /// Sets the probabilities of masked keys of query i to 0. A multiplication by 0 would not do,
  /// because masked scores may be infinite.
  void hide(int64_t i, IndexRange block, T *pRow, T *dsRow) const {
    IndexRange visible = mask.getKeyRange({i, i + 1});
    if (visible.begin <= block.begin && visible.end >= block.end && !mask.hasDocuments())
      return;
    int64_t begin = std::clamp<int64_t>(visible.begin - block.begin, 0, lanes);
    int64_t end = std::clamp<int64_t>(visible.end - block.begin, begin, lanes);
    for (int64_t lane = 0; lane < begin; ++lane)
      pRow[lane] = dsRow[lane] = 0;
    for (int64_t lane = end; lane < lanes; ++lane)
      pRow[lane] = dsRow[lane] = 0;
    if (!mask.hasDocuments())
      return;
    int64_t document = mask.getQueryDocument(i);
    for (int64_t j = block.begin; j < block.end; ++j)
      if (mask.getKeyDocument(j) != document)
        pRow[j - block.begin] = dsRow[j - block.begin] = 0;
  }

  const AttentionShape &s;
  const BackwardTensors<E> &all;
  AttentionMask mask;
  T *lse2, *delta; // [rows] = [group][queries]; lse in units of log2
  T *p, *ds;       // [queryBlock][lanes]
  Products products;
  int64_t loaded = -1, outer = 0, kvHead = 0; // the loaded pair
};

/// The backward pass with the GEMMs of `Products`.
template <typename Products, typename E>
void backwardBy(const AttentionShape &shape, const BackwardTensors<E> &all) {
  constexpr int64_t lanes = Lanes<Accumulated<E>>::block;
  const int64_t pairs = shape.outer * shape.kvHeads;
  const int64_t keyBlocks = (shape.keys + lanes - 1) / lanes;
  const int64_t queryBlocks = (shape.queries + lanes - 1) / lanes;
  const IndexRange allQueries{0, shape.queries}, allBlocks{0, keyBlocks};
  const Tasks ofQueries(pairs, queryBlocks), ofKeys(pairs, keyBlocks);
  // Two passes compute 7 products instead of 5: the scores and the cotangents of probabilities
  // twice. This pays off if a thread would be idle.
  const bool isSplit = pairs < omp_get_max_threads();
#pragma omp parallel
  {
    BackwardHead<E, Products> head(shape, all);
    auto getChunk = [](int64_t index, const Tasks &tasks, int64_t units) -> IndexRange {
      int64_t at = index % tasks.chunks;
      return {at * units / tasks.chunks, (at + 1) * units / tasks.chunks};
    };
    if (isSplit) {
#pragma omp for schedule(dynamic) nowait
      for (int64_t i = 0; i < ofQueries.count(); ++i) {
        const IndexRange some = getChunk(i, ofQueries, queryBlocks);
        head.template run<Wanted::Queries>(
            i / ofQueries.chunks, {some.begin * lanes, std::min(some.end * lanes, shape.queries)},
            allBlocks);
      }
#pragma omp for schedule(dynamic)
      for (int64_t i = 0; i < ofKeys.count(); ++i)
        head.template run<Wanted::Keys>(i / ofKeys.chunks, allQueries,
                                        getChunk(i, ofKeys, keyBlocks));
    } else {
#pragma omp for schedule(dynamic)
      for (int64_t pair = 0; pair < pairs; ++pair)
        head.template run<Wanted::All>(pair, allQueries, allBlocks);
    }
  }
}

template <typename E> void backward(const AttentionShape &given, const BackwardTensors<E> &all) {
  const AttentionShape shape = withStrides(given);
  if constexpr (std::is_same_v<E, bf16>)
    if (PackedBackward::fits(shape))
      return backwardBy<PackedBackward>(shape, all);
  backwardBy<VectorBackward<E>>(shape, all);
}

} // namespace

void attentionBackward(const AttentionShape &shape, const float *q, const float *k, const float *v,
                       const float *out, const float *lse, const float *dout,
                       const float *lseCotangent, float *dq, float *dk, float *dv) {
  backward<float>(shape, {q, k, v, out, lse, dout, lseCotangent, dq, dk, dv});
}

void attentionBackward(const AttentionShape &shape, const double *q, const double *k,
                       const double *v, const double *out, const double *lse, const double *dout,
                       const double *lseCotangent, double *dq, double *dk, double *dv) {
  backward<double>(shape, {q, k, v, out, lse, dout, lseCotangent, dq, dk, dv});
}

void attentionBackward(const AttentionShape &shape, const bf16 *q, const bf16 *k, const bf16 *v,
                       const bf16 *out, const float *lse, const bf16 *dout,
                       const float *lseCotangent, bf16 *dq, bf16 *dk, bf16 *dv) {
  backward<bf16>(shape, {q, k, v, out, lse, dout, lseCotangent, dq, dk, dv});
}

} // namespace titan::rt
