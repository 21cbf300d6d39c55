// The forward pass of attention for a few queries, as in generation: one new position attends to
// all keys before it. Vector lanes hold elements of a head instead of queries. Keys and values are
// not packed; each query reads them once. The running maximum follows T. Dao et al.,
// "FlashAttention", 2022.
#pragma once

#include "Products.h"
#include "Scratch.h"

#include "base/math/VectorMath.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace titan::rt {

/// E is the element type in memory, T the type of the arithmetic.
template <typename E> class FewQueries {
  using T = Accumulated<E>;
  static constexpr int64_t kBlock = attention_scratch::kKeyBlock; // keys per block of scores

public:
  /// Whether this method is possible and fast: with more queries, packed keys are faster.
  static bool fits(const AttentionShape &s) {
    return s.queries < 4 && s.q.element == 1 && s.k.element == 1 && s.v.element == 1 &&
           s.out.element == 1;
  }

  FewQueries(const AttentionShape &s, const E *q, const E *k, const E *v, E *out, T *lse)
      : s(s), q(q), k(k), v(v), out(out), lse(lse) {}

  void run() {
    const int64_t rows = s.outer * s.kvHeads * s.group * s.queries;
#pragma omp parallel for schedule(dynamic)
    for (int64_t row = 0; row < rows; ++row)
      attend(row);
  }

private:
  /// Computes the result of one query of one head.
  void attend(int64_t row) const {
    const int64_t i = row % s.queries, g = row / s.queries % s.group,
                  kvHead = row / s.queries / s.group % s.kvHeads,
                  outer = row / s.queries / s.group / s.kvHeads;
    auto start = [&](const AttentionStrides &at) {
      return outer * at.outer + kvHead * at.kvHead + g * at.group + i * at.position;
    };
    auto getKeyStart = [&](const AttentionStrides &at) {
      return outer * at.outer + kvHead * at.kvHead;
    };
    const AttentionMask mask(s, outer, kvHead);
    const attention_scratch::Sizes sizes = scratchSizes<T>(s);
    Scratch scratch(s.scratch, attention_scratch::forwardBytes(sizes));
    T *sums = scratch.take<T>(s.valueHead), *scores = scratch.take<T>(kBlock);
    std::fill_n(sums, s.valueHead, T(0));
    const IndexRange query{i, i + 1}, visible = mask.getKeyRange(query);
    T highest = kHidden, total = 0;
    for (int64_t j = visible.begin; j < visible.end; j += kBlock) {
      const IndexRange keys{j, std::min(j + kBlock, visible.end)};
      score(mask, query, keys, q + start(s.q), k + getKeyStart(s.k), scores);
      add(keys, v + getKeyStart(s.v), scores, sums, highest, total);
    }
    const bool isEmpty = highest == kHidden; // a step of a ring may hide all keys
    E *to = out + start(s.out);
    for (int64_t d = 0; d < s.valueHead; ++d)
      to[d] = static_cast<E>(isEmpty ? T(0) : sums[d] / total);
    if (lse)
      lse[start(s.lse)] =
          isEmpty ? -std::numeric_limits<T>::infinity() : highest * T(kLn2) + std::log(total);
  }

  /// Computes the scores of one query for `keys`, in units of log2.
  void score(const AttentionMask &mask, IndexRange query, IndexRange keys, const E *queryRow,
             const E *keyRows, T *scores) const {
    const T factor = scoreFactor<T>(s), cap = static_cast<T>(s.softCap * kLog2E);
    const bool isUnmasked = mask.isUnmasked(query, keys);
    for (int64_t j = keys.begin; j < keys.end; ++j) {
      const E *keyRow = keyRows + j * s.k.position;
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t d = 0; d < s.head; ++d)
        sum += static_cast<T>(queryRow[d]) * static_cast<T>(keyRow[d]);
      sum *= factor;
      if (s.softCap > 0)
        sum = cap * vtanh(sum);
      scores[j - keys.begin] = isUnmasked || mask.isVisible(query.begin, j) ? sum : kHidden;
    }
  }

  /// Adds the values of `keys`, weighted by the exponentials of their scores, to `sums`. Rescales
  /// `sums` and `total` if a score exceeds `highest`.
  void add(IndexRange keys, const E *valueRows, T *scores, T *sums, T &highest, T &total) const {
    const int64_t count = keys.end - keys.begin;
    const T top = std::max(highest, *std::max_element(scores, scores + count)),
            rescale = vexp2NonPositive(highest - top);
    highest = top;
#pragma omp simd
    for (int64_t j = 0; j < count; ++j)
      scores[j] = vexp2NonPositive(scores[j] - top);
    total *= rescale;
    for (int64_t j = 0; j < count; ++j)
      total += scores[j];
#pragma omp simd
    for (int64_t d = 0; d < s.valueHead; ++d)
      sums[d] *= rescale;
    for (int64_t j = 0; j < count; ++j) {
      const E *valueRow = valueRows + (keys.begin + j) * s.v.position;
      const T weight = scores[j];
#pragma omp simd
      for (int64_t d = 0; d < s.valueHead; ++d)
        sums[d] += weight * static_cast<T>(valueRow[d]);
    }
  }

  static constexpr double kLog2E = 1.44269504088896340736, kLn2 = 0.69314718055994530942;
  static constexpr T kHidden = kHiddenScore<T>;
  const AttentionShape &s;
  const E *q, *k, *v;
  E *out;
  T *lse;
};

} // namespace titan::rt
