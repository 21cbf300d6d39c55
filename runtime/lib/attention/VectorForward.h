// GEMMs of the attention forward pass on vectors, for all element types and layouts.
#pragma once

#include "Panel.h"
#include "Products.h"

namespace titan::rt {

/// Products.h for one (outer, kv head) pair. Tensors have elements of type E; the arithmetic is in
/// T.
template <typename E> class VectorForward {
  using T = Accumulated<E>;

public:
  static bool fits(const AttentionShape &) { return true; }

  VectorForward(const AttentionShape &s, const ForwardMemory<T> &memory)
      : sums(memory.sums), s(s), memory(memory) {}

  /// Packs the keys of a range that starts a panel, and their values.
  void load(const E *k, const E *v, IndexRange keys) {
    const int64_t count = keys.end - keys.begin;
    packRows(k + keys.begin * s.k.position, getRowStrides(s.k), count, s.head,
             memory.keys + keys.begin * s.head);
    packRows(v + keys.begin * s.v.position, getRowStrides(s.v), count, s.valueHead,
             memory.values + keys.begin * s.valueHead);
  }

  /// queries[head][lanes], times the score factor.
  void loadQueries(const E *q, int64_t count) {
    packLanes(q, getRowStrides(s.q), count, s.head, scoreFactor<T>(s), memory.queries);
  }

  /// scores[count][lanes] from `firstKey`, which starts a panel.
  void score(int64_t firstKey, int64_t count, T *scores) const {
    multiplyRowPanels(memory.keys + firstKey * s.head, count, s.head, memory.queries, scores);
  }

  /// sums[valueHead][lanes] += the values of `count` keys from `firstKey`, weighted by
  /// probabilities[count][lanes].
  void addValues(int64_t firstKey, int64_t count, const T *probabilities) {
    addTransposed(memory.values + firstKey * s.valueHead, count, s.valueHead, probabilities, sums);
  }

  /// Rounds and stores the sums of `count` lanes.
  void store(E *out, int64_t count) const {
    storeRows(sums, s.valueHead, T(1), out, getRowStrides(s.out), count);
  }

  T *const sums; // [valueHead][lanes]

private:
  const AttentionShape &s;
  const ForwardMemory<T> memory;
};

} // namespace titan::rt
