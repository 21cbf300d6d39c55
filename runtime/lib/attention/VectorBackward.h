// GEMMs of the attention backward pass on vectors, for all element types and layouts.
#pragma once

#include "Panel.h"
#include "Products.h"

#include <algorithm>

namespace titan::rt {

/// Products.h for one (outer, kv head) pair. Tensors have elements of type E; the arithmetic is in
/// T.
template <typename E> class VectorBackward {
  using T = Accumulated<E>;
  static constexpr int64_t lanes = Lanes<T>::block;

public:
  static bool fits(const AttentionShape &) { return true; }

  VectorBackward(const AttentionShape &s, const BackwardMemory<T> &memory)
      : s(s), memory(memory), width(scratchSizes<T>(s).width()),
        rows(attention_scratch::roundUpToPanel(s.queries)) {}

  void loadKeys(const E *k, const E *v) {
    keys = k;
    values = v;
  }
  /// For query head g.
  void loadQueries(int64_t g, const E *q, const E *dout) {
    packRows(q, getRowStrides(s.q), s.queries, s.head, memory.queries + g * rows * s.head);
    packRows(dout, getRowStrides(s.out), s.queries, s.valueHead,
             memory.douts + g * rows * s.valueHead);
  }
  void clearQueries(IndexRange queries) {
    for (int64_t g = 0; g < s.group; ++g)
      std::fill(dquery(g, queries.begin), dquery(g, queries.end), T(0));
  }

  /// Loads a block of keys and values, and zeroes its gradients.
  void beginKeys(IndexRange block) {
    const int64_t count = block.end - block.begin;
    packLanes(keys + block.begin * s.k.position, getRowStrides(s.k), count, s.head,
              scoreFactor<T>(s), memory.keysT);
    packLanes(values + block.begin * s.v.position, getRowStrides(s.v), count, s.valueHead, T(1),
              memory.valuesT);
    std::fill_n(memory.keys, lanes * width, T(0));
    for (int64_t lane = 0; lane < count; ++lane)
      scaleRow(keys + (block.begin + lane) * s.k.position, s.k.element, T(1), s.head,
               memory.keys + lane * width, 1);
    std::fill_n(memory.dkeysT, s.head * lanes, T(0));
    std::fill_n(memory.dvaluesT, s.valueHead * lanes, T(0));
  }

  /// scores[count][lanes] and the cotangents of probabilities.
  void score(const ScoreTile &at, T *scores, T *dprobabilities) const {
    multiplyRowPanels(queriesAt(at), at.count, s.head, memory.keysT, scores);
    multiplyRowPanels(doutsAt(at), at.count, s.valueHead, memory.valuesT, dprobabilities);
  }

  /// dvaluesT[valueHead][lanes] and dkeysT[head][lanes] from probabilities and
  /// dscores[count][lanes].
  void addToKeys(const ScoreTile &at, const T *probabilities, const T *dscores) {
    addTransposed(doutsAt(at), at.count, s.valueHead, probabilities, memory.dvaluesT);
    addTransposed(queriesAt(at), at.count, s.head, dscores, memory.dkeysT);
  }

  void addToQueries(const ScoreTile &at, const T *dscores) {
    addRows(dscores, at.count, at.keys, memory.keys, width, dquery(at.g, at.query));
  }

  void storeQuery(int64_t g, int64_t i, T scale, E *to) const {
    scaleRow(dquery(g, i), 1, scale, s.head, to, s.q.element);
  }

  /// Stores the gradients of `count` keys, times `scale`, and of their values.
  void storeKeys(T scale, int64_t count, E *dk, E *dv) const {
    storeRows(memory.dkeysT, s.head, scale, dk, getRowStrides(s.k), count);
    storeRows(memory.dvaluesT, s.valueHead, T(1), dv, getRowStrides(s.v), count);
  }

private:
  const T *queriesAt(const ScoreTile &at) const {
    return memory.queries + (at.g * rows + at.query) * s.head;
  }
  const T *doutsAt(const ScoreTile &at) const {
    return memory.douts + (at.g * rows + at.query) * s.valueHead;
  }
  T *dquery(int64_t g, int64_t i) const { return memory.dqueries + (g * s.queries + i) * width; }

  const AttentionShape &s;
  const BackwardMemory<T> memory;
  const int64_t width; // head, rounded up to whole vectors
  const int64_t rows;  // packed rows of a head's queries
  const E *keys = nullptr, *values = nullptr;
};

} // namespace titan::rt
