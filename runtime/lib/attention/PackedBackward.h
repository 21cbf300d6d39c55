// GEMMs of the attention backward pass on a MatrixUnit, for the layouts that it supports. Each
// operand is packed once per product that uses it, because the products need rows and k in
// different orders.
#pragma once

#include "PackedOperands.h"
#include "Panel.h"

#include <algorithm>

namespace titan::rt {

/// Products.h for one (outer, kv head) pair. In the names of operands, `Across` means that k counts
/// positions instead of elements of a head.
class PackedBackward : PackedProducts {
public:
  static bool fits(const AttentionShape &s) {
    return matrixUnit() && fitsUnit({s.q, s.k, s.v, s.out});
  }

  PackedBackward(const AttentionShape &s, const BackwardMemory<float> &)
      : PackedProducts(*matrixUnit()), s(s), queryPanels(unitPanels(s.queries)),
        headPanels(unitPanels(s.head)), keys{s.keys, s.head}, keysAcross{s.head, s.keys},
        values{s.keys, s.valueHead}, queries{s.queries, s.head, s.group},
        queriesAcross{s.head, s.queries, s.group}, douts{s.queries, s.valueHead, s.group},
        doutsAcross{s.valueHead, s.queries, s.group} {
    allocate(attention_scratch::kQueryBlock,
             {&keys, &keysAcross, &values, &queries, &queriesAcross, &douts, &doutsAcross},
             {{&dqueries, s.group * queryPanels * headPanels * kUnitBlockElements},
              {&dkeys, headPanels * kUnitBlockElements},
              {&dvalues, unitPanels(s.valueHead) * kUnitBlockElements}});
  }

  void loadKeys(const bf16 *k, const bf16 *v) {
    packRight(k, s.k, /*isKContiguous=*/true, keys);
    packRight(k, s.k, /*isKContiguous=*/false, keysAcross);
    packRight(v, s.v, /*isKContiguous=*/true, values);
  }
  /// For query head g.
  void loadQueries(int64_t g, const bf16 *q, const bf16 *dout) {
    packLeft(q, s.q, /*isKContiguous=*/true, queries, g);
    packLeft(q, s.q, /*isKContiguous=*/false, queriesAcross, g);
    packLeft(dout, s.out, /*isKContiguous=*/true, douts, g);
    packLeft(dout, s.out, /*isKContiguous=*/false, doutsAcross, g);
  }
  void clearQueries(IndexRange) {
    std::fill_n(dqueries, s.group * queryPanels * headPanels * kUnitBlockElements, 0.0f);
  }
  void beginKeys(IndexRange) {
    std::fill_n(dkeys, headPanels * kUnitBlockElements, 0.0f);
    std::fill_n(dvalues, unitPanels(s.valueHead) * kUnitBlockElements, 0.0f);
  }

  /// scores[count][lanes] and the cotangents of probabilities.
  void score(const ScoreTile &at, float *scores, float *dprobabilities) const {
    unit.multiply(queries.at(at.query, 0, at.g), at.count, keys.at(at.key), s.head,
                  scoreFactor<float>(s), scores);
    unit.multiply(douts.at(at.query, 0, at.g), at.count, values.at(at.key), s.valueHead, 1,
                  dprobabilities);
  }

  /// dvalues[valueHead][lanes] and dkeys[head][lanes] from probabilities and dscores[count][lanes].
  void addToKeys(const ScoreTile &at, const float *probabilities, const float *dscores) {
    addWeighted(doutsAcross, at.g, at.query, probabilities, at.count, dvalues);
    addWeighted(queriesAcross, at.g, at.query, dscores, at.count, dkeys);
  }

  void addToQueries(const ScoreTile &at, const float *dscores) {
    unit.splitRows(dscores, at.count, at.keys, weights);
    unit.addAcross(weights, at.count, at.keys, keysAcross.at(0, at.key), s.head,
                   keysAcross.stride(), dquery(at.g, at.query));
  }

  void storeQuery(int64_t g, int64_t i, float scale, bf16 *to) const {
    for (int64_t d = 0; d < s.head; d += kUnitPanel)
      scaleRow(dquery(g, i) + d / kUnitPanel * kUnitBlockElements + i % kUnitPanel * kUnitPanel, 1,
               scale, std::min(kUnitPanel, s.head - d), to + d, 1);
  }

  /// Stores the gradients of `count` keys, times `scale`, and of their values.
  void storeKeys(float scale, int64_t count, bf16 *dk, bf16 *dv) const {
    store(dkeys, s.head, scale, dk, getRowStrides(s.k), count);
    store(dvalues, s.valueHead, 1, dv, getRowStrides(s.v), count);
  }

private:
  /// The blocks of this query's panel.
  float *dquery(int64_t g, int64_t i) const {
    return dqueries + (g * queryPanels + i / kUnitPanel) * headPanels * kUnitBlockElements;
  }

  const AttentionShape &s;
  const int64_t queryPanels, headPanels;
  PackedOperand keys, keysAcross, values;
  PackedOperand queries, queriesAcross, douts, doutsAcross; // all heads of the group
  float *dkeys, *dvalues; // [head or valueHead, rounded up to panels][lanes]
  float *dqueries;        // [group][panel of queries][panel of the head][32][32]
};

} // namespace titan::rt
