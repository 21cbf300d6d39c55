// The forward pass of attention on CPUs (Attention.h).
#include "AttentionMask.h"
#include "FewQueries.h"
#include "PackedForward.h"
#include "Scratch.h"
#include "VectorForward.h"

#include "Attention.h"
#include "base/math/VectorMath.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace titan::rt {

namespace {

constexpr int64_t keyBlock = attention_scratch::kKeyBlock;

template <typename T> constexpr T hidden = kHiddenScore<T>;

constexpr double kLog2E = 1.44269504088896340736, kLn2 = 0.69314718055994530942;

template <typename E> struct ForwardTensors {
  const E *q, *k, *v;
  E *out;
  Accumulated<E> *lse;
};

/// The forward pass of one (outer, kv head) pair, for all its query heads. Tensors have elements of
/// type E; the arithmetic is in T.
template <typename E, typename Products> class ForwardHead {
  using T = Accumulated<E>;
  static constexpr int64_t lanes = Lanes<T>::block;
  static constexpr int registers = Lanes<T>::registers;
  using Register = typename Lanes<T>::Register;

public:
  ForwardHead(const AttentionShape &shape, const ForwardTensors<E> &all)
      : s(shape), all(all), mask(shape, 0, 0), products(shape, divideScratch()) {}

  /// Computes the queries of these blocks of lanes.
  void run(int64_t pair, IndexRange blocks) {
    load(pair);
    for (int64_t g = 0; g < s.group; ++g)
      for (int64_t block = blocks.begin; block < blocks.end; ++block)
        queryBlock(g, block * lanes);
  }

private:
  /// Divides the planned scratch: among the products, and for the members of this class.
  ForwardMemory<T> divideScratch() {
    attention_scratch::Sizes sizes = scratchSizes<T>(s);
    Scratch scratch(s.scratch, attention_scratch::forwardBytes(sizes));
    ForwardMemory<T> memory;
    T **buffers[] = {&memory.keys, &memory.values, &memory.queries, &memory.sums,
                     &scores,      &highest,       &total,          &rescale};
    scratch.take(attention_scratch::forwardBuffers(sizes), buffers);
    return memory;
  }

  void load(int64_t pair) {
    if (pair == loaded)
      return;
    loaded = pair;
    outer = pair / s.kvHeads;
    kvHead = pair % s.kvHeads;
    auto start = [&](const AttentionStrides &at) { return outer * at.outer + kvHead * at.kvHead; };
    mask = AttentionMask(s, outer, kvHead);
    // Panels start at multiples of `lanes`.
    const IndexRange visible = mask.getKeyRange({0, s.queries});
    products.load(all.k + start(s.k), all.v + start(s.v),
                  {visible.begin / lanes * lanes, std::max(visible.begin, visible.end)});
  }

  /// `lanes` queries of head g from i0, one per lane.
  void queryBlock(int64_t g, int64_t i0) {
    int64_t count = std::min(lanes, s.queries - i0);
    auto start = [&](const AttentionStrides &at) {
      return outer * at.outer + kvHead * at.kvHead + g * at.group + i0 * at.position;
    };
    products.loadQueries(all.q + start(s.q), count);
    std::fill_n(highest, lanes, hidden<T>);
    std::fill_n(total, lanes, T(0));
    T *sums = products.sums;
    std::fill_n(sums, s.valueHead * lanes, T(0));
    IndexRange block{i0, i0 + count}, visible = mask.getKeyRange(block);
    isFirst = true;
    // Panels start at multiples of `lanes`; keys before the first visible one are masked.
    for (int64_t j0 = visible.begin / lanes * lanes; j0 < visible.end; j0 += keyBlock) {
      IndexRange keys{j0, std::min(j0 + keyBlock, visible.end)};
      if (!mask.isFullyMasked(block, keys))
        keyStep(block, keys);
    }
    // In a step of a ring, a query may see no key. Its result is then 0.
    if (T *lse = all.lse ? all.lse + start(s.lse) : nullptr)
      for (int64_t lane = 0; lane < count; ++lane)
        lse[lane * s.lse.position] = highest[lane] == hidden<T>
                                         ? -std::numeric_limits<T>::infinity()
                                         : highest[lane] * T(kLn2) + std::log(total[lane]);
    for (int64_t lane = 0; lane < lanes; ++lane)
      rescale[lane] = highest[lane] == hidden<T> ? T(0) : T(1) / total[lane];
    rescaleSums();
    products.store(all.out + start(s.out), count);
  }

  void rescaleSums() {
    for (int64_t d = 0; d < s.valueHead; ++d)
#pragma omp simd
      for (int64_t lane = 0; lane < lanes; ++lane)
        products.sums[d * lanes + lane] *= rescale[lane];
  }

  /// Adds a block of keys to the running maximum, sum and weighted values.
  void keyStep(IndexRange block, IndexRange keys) {
    int64_t count = keys.end - keys.begin;
    products.score(keys.begin, count, scores);
    if (s.softCap > 0)
      capScores(count);
    if (!mask.isUnmasked(block, keys))
      hideScores(block, keys);
    raiseMaximum(count);
    for (int64_t j = 0; j < count; ++j) {
      T *row = scores + j * lanes;
#pragma omp simd
      for (int64_t lane = 0; lane < lanes; ++lane)
        row[lane] = vexp2NonPositive(row[lane] - highest[lane]);
    }
    addToTotal(count);
    if (!isFirst)
      rescaleSums();
    isFirst = false;
    products.addValues(keys.begin, count, scores);
  }

  void capScores(int64_t count) {
    T cap = static_cast<T>(s.softCap * kLog2E);
    for (int64_t j = 0; j < count; ++j) {
      T *row = scores + j * lanes;
#pragma omp simd
      for (int64_t lane = 0; lane < lanes; ++lane)
        row[lane] = cap * vtanh(row[lane]);
    }
  }

  void hideScores(IndexRange block, IndexRange keys) {
    for (int64_t j = keys.begin; j < keys.end; ++j) {
      T *row = scores + (j - keys.begin) * lanes;
      IndexRange attending = mask.getQueryRange({j, j + 1});
      if (attending.begin <= block.begin && attending.end >= block.end && !mask.hasDocuments())
        continue;
      int64_t first = std::clamp<int64_t>(attending.begin - block.begin, 0, lanes);
      int64_t end = std::clamp<int64_t>(attending.end - block.begin, first, lanes);
      for (int64_t lane = 0; lane < first; ++lane)
        row[lane] = hidden<T>;
      for (int64_t lane = end; lane < lanes; ++lane)
        row[lane] = hidden<T>;
      if (!mask.hasDocuments())
        continue;
      int64_t document = mask.getKeyDocument(j);
      for (int64_t i = block.begin; i < block.end; ++i)
        if (mask.getQueryDocument(i) != document)
          row[i - block.begin] = hidden<T>;
    }
  }

  /// Combines `row`, one element per lane, with the scores of each of `count` keys in order.
  template <typename Combine>
  TITAN_VECTOR_INLINE void combineKeys(int64_t count, Register (&row)[registers],
                                       Combine &&combine) const {
    for (int64_t j = 0; j < count; ++j)
#pragma GCC unroll 8
      for (int v = 0; v < registers; ++v)
        row[v] = combine(row[v], reinterpret_cast<const Register *>(scores + j * lanes)[v]);
  }

  /// highest = max(highest, scores over keys); rescale = 2^(old - new).
  void raiseMaximum(int64_t count) {
    auto *old = reinterpret_cast<Register *>(highest);
    auto *factor = reinterpret_cast<Register *>(rescale);
    Register row[registers];
    std::copy_n(old, registers, row);
    combineKeys(count, row, [](Register a, Register b) { return b > a ? b : a; });
#pragma GCC unroll 8
    for (int v = 0; v < registers; ++v) {
      factor[v] = old[v] - row[v];
      old[v] = row[v];
    }
#pragma omp simd
    for (int64_t lane = 0; lane < lanes; ++lane)
      rescale[lane] = vexp2NonPositive(rescale[lane]);
  }

  void addToTotal(int64_t count) {
    auto *sum = reinterpret_cast<Register *>(total);
    const auto *factor = reinterpret_cast<const Register *>(rescale);
    Register row[registers] = {};
    combineKeys(count, row, [](Register a, Register b) { return a + b; });
#pragma GCC unroll 8
    for (int v = 0; v < registers; ++v)
      sum[v] = sum[v] * factor[v] + row[v];
  }

  const AttentionShape &s;
  const ForwardTensors<E> &all;
  AttentionMask mask;
  T *scores; // [keyBlock][lanes], then probabilities
  // [lanes]: the running maximum of scores, the sum of exponentials relative to it, and the factor
  // by which a new maximum scales that sum.
  T *highest, *total, *rescale;
  Products products;
  int64_t loaded = -1, outer = 0, kvHead = 0; // the loaded pair
  bool isFirst = true; // no keys have been added to the sums of the block of queries
};

/// The forward pass with the GEMMs of `Products`.
template <typename Products, typename E>
void forwardBy(const AttentionShape &shape, const ForwardTensors<E> &all) {
  constexpr int64_t lanes = Lanes<Accumulated<E>>::block;
  const int64_t blocks = (shape.queries + lanes - 1) / lanes;
  const Tasks tasks(shape.outer * shape.kvHeads, blocks);
#pragma omp parallel
  {
    ForwardHead<E, Products> head(shape, all);
#pragma omp for schedule(dynamic)
    for (int64_t i = 0; i < tasks.count(); ++i) {
      int64_t chunk = i % tasks.chunks;
      head.run(i / tasks.chunks,
               {chunk * blocks / tasks.chunks, (chunk + 1) * blocks / tasks.chunks});
    }
  }
}

template <typename E> void forward(const AttentionShape &given, const ForwardTensors<E> &all) {
  const AttentionShape shape = withStrides(given);
  if (FewQueries<E>::fits(shape))
    return FewQueries<E>(shape, all.q, all.k, all.v, all.out, all.lse).run();
  if constexpr (std::is_same_v<E, bf16>)
    if (PackedForward::fits(shape))
      return forwardBy<PackedForward>(shape, all);
  forwardBy<VectorForward<E>>(shape, all);
}

} // namespace

void attentionForward(const AttentionShape &shape, const float *q, const float *k, const float *v,
                      float *out, float *lse) {
  forward<float>(shape, {q, k, v, out, lse});
}

void attentionForward(const AttentionShape &shape, const double *q, const double *k,
                      const double *v, double *out, double *lse) {
  forward<double>(shape, {q, k, v, out, lse});
}

void attentionForward(const AttentionShape &shape, const bf16 *q, const bf16 *k, const bf16 *v,
                      bf16 *out, float *lse) {
  forward<bf16>(shape, {q, k, v, out, lse});
}

} // namespace titan::rt
