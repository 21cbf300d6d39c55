// The products of attention's backward pass on tiles, for the elements and layouts that they take.
// Every operand lies in memory as often as it is multiplied, since tiles want lines and depth
// apart.
#pragma once

#include "ThreadScratch.h"
#include "TiledOperands.h"

#include <algorithm>

namespace titan::rt {

/// Of one (outer, kv head) pair.
class TiledBackward {
public:
  TiledBackward(const AttentionShape &s, bool isUsed, int64_t mostQueries)
      : scope(isUsed), s(s), isUsed(isUsed), steps(amx::panelsFor(s.head)),
        valueSteps(amx::panelsFor(s.valueHead)), keySteps(amx::panelsFor(s.keys)),
        querySteps(amx::panelsFor(s.queries)) {
    if (!isUsed)
      return;
    const int64_t rows = s.group * querySteps * amx::kStep, most = amx::panelsFor(mostQueries);
    struct Piece {
      uint16_t **to;
      int64_t elements;
    };
    const Piece packed[] = {{&keys, keySteps * steps * amx::kStep},
                            {&keysAcross, keySteps * steps * amx::kStep},
                            {&values, keySteps * valueSteps * amx::kStep},
                            {&queries, rows * steps},
                            {&queriesAcross, rows * steps},
                            {&douts, rows * valueSteps},
                            {&doutsAcross, rows * valueSteps},
                            {&weights.high, most * amx::kStep},
                            {&weights.low, most * amx::kStep}};
    int64_t bytes = (rows * steps + (steps + valueSteps) * square) * int64_t{sizeof(float)};
    for (const Piece &piece : packed)
      bytes += piece.elements * int64_t{sizeof(uint16_t)};
    ThreadScratch &scratch = ThreadScratch::ofThread(static_cast<size_t>(bytes));
    for (const Piece &piece : packed)
      *piece.to = scratch.take<uint16_t>(piece.elements);
    dqueries = scratch.take<float>(rows * steps);
    dkeys = scratch.take<float>(steps * square);
    dvalues = scratch.take<float>(valueSteps * square);
  }

  explicit operator bool() const { return isUsed; }

  void loadKeys(const void *k, const void *v) {
    amx::packRight(linesOf(k, s.k), s.keys, s.head, keys);
    amx::packRight(depthOf(k, s.k), s.head, s.keys, keysAcross);
    amx::packRight(linesOf(v, s.v), s.keys, s.valueHead, values);
  }
  /// Of query head g.
  void loadQueries(int64_t g, const void *q, const void *dout) {
    const int64_t at = g * querySteps * amx::kStep;
    amx::packLeft(linesOf(q, s.q), s.queries, s.head, queries + at * steps);
    amx::packLeft(depthOf(q, s.q), s.head, s.queries, queriesAcross + at * steps);
    amx::packLeft(linesOf(dout, s.out), s.queries, s.valueHead, douts + at * valueSteps);
    amx::packLeft(depthOf(dout, s.out), s.valueHead, s.queries, doutsAcross + at * valueSteps);
  }
  void clearQueries() { std::fill_n(dqueries, s.group * querySteps * steps * square, 0.0f); }

  /// Some queries of a head and a panel of keys.
  struct Place {
    int64_t g, query, count; // the first query begins a panel
    int64_t key, keys;       // so does the first key
  };

  /// scores[count][lanes] times a factor, and the cotangents of probabilities.
  void score(const Place &at, float factor, float *scores, float *dprobabilities) const {
    const int64_t panels = amx::panelsFor(at.count), row = panelOf(at), key = at.key / amx::kPanel;
    amx::multiply(queries + row * steps * amx::kStep, panels, keys + key * steps * amx::kStep,
                  steps, scores);
    amx::multiply(douts + row * valueSteps * amx::kStep, panels,
                  values + key * valueSteps * amx::kStep, valueSteps, dprobabilities);
#pragma omp simd
    for (int64_t i = 0; i < panels * square; ++i)
      scores[i] *= factor;
  }

  /// dvalues[valueHead][lanes] and dkeys[head][lanes] from probabilities and dscores[count][lanes].
  void addToKeys(const Place &at, const float *probabilities, const float *dscores) {
    const int64_t depth = amx::panelsFor(at.count), head = at.g * querySteps * amx::kStep;
    const int64_t first = at.query / amx::kPanel * amx::kStep, stride = querySteps * amx::kStep;
    amx::splitDepth(probabilities, at.count, weights);
    amx::add(doutsAcross + head * valueSteps + first, valueSteps, stride, weights, depth, dvalues);
    amx::splitDepth(dscores, at.count, weights);
    amx::add(queriesAcross + head * steps + first, steps, stride, weights, depth, dkeys);
  }

  void addToQueries(const Place &at, const float *dscores) {
    amx::splitLines(dscores, at.count, at.keys, weights);
    amx::addAcross(weights, amx::panelsFor(at.count),
                   keysAcross + at.key / amx::kPanel * amx::kStep, steps, keySteps * amx::kStep,
                   dqueries + panelOf(at) * steps * square);
  }

  /// 32 elements of a query's gradient from this panel of the head on.
  const float *dquery(int64_t g, int64_t i, int64_t panel) const {
    return dqueries + ((g * querySteps + i / amx::kPanel) * steps + panel) * square +
           i % amx::kPanel * amx::kPanel;
  }

  float *dkeys, *dvalues; // [head or valueHead, rounded up to panels][lanes]

private:
  static constexpr int64_t square = amx::kPanel * amx::kPanel;
  int64_t panelOf(const Place &at) const {
    return at.g * querySteps + at.query / amx::kPanel;
  }

  const amx::TileScope scope;
  const AttentionShape &s;
  const bool isUsed;
  const int64_t steps, valueSteps, keySteps, querySteps;
  uint16_t *keys, *keysAcross, *values;
  uint16_t *queries, *queriesAcross, *douts, *doutsAcross; // of all heads of the group
  amx::Halves weights;
  float *dqueries; // [group][panel of queries][panel of the head][32][32]
};

} // namespace titan::rt
