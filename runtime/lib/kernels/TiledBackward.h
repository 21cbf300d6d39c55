// The products of attention's backward pass on tiles, for the elements and layouts that they take.
// Every operand lies in memory as often as it is multiplied, since tiles want lines and depth
// apart.
#pragma once

#include "Panel.h"
#include "TiledOperands.h"

#include <algorithm>

namespace titan::rt {

/// Of one (outer, kv head) pair.
class TiledBackward : TiledProducts {
public:
  static bool fits(const AttentionShape &s) { return fitsTiles<bf16>({s.q, s.k, s.v, s.out}); }

  TiledBackward(const AttentionShape &s, const BackwardMemory<float> &)
      : s(s), querySteps(amx::panelsFor(s.queries)), steps(amx::panelsFor(s.head)),
        valueSteps(amx::panelsFor(s.valueHead)), keys{s.keys, s.head}, keysAcross{s.head, s.keys},
        values{s.keys, s.valueHead}, queries{s.queries, s.head, s.group},
        queriesAcross{s.head, s.queries, s.group}, douts{s.queries, s.valueHead, s.group},
        doutsAcross{s.valueHead, s.queries, s.group} {
    allocate(attention_scratch::kQueryBlock,
             {&keys, &keysAcross, &values, &queries, &queriesAcross, &douts, &doutsAcross},
             {{&dqueries, s.group * querySteps * steps * square},
              {&dkeys, steps * square},
              {&dvalues, valueSteps * square}});
  }

  void loadKeys(const bf16 *k, const bf16 *v) {
    keys.packRight(k, s.k, true);
    keysAcross.packRight(k, s.k, false);
    values.packRight(v, s.v, true);
  }
  /// Of query head g.
  void loadQueries(int64_t g, const bf16 *q, const bf16 *dout) {
    queries.packLeft(q, s.q, true, g);
    queriesAcross.packLeft(q, s.q, false, g);
    douts.packLeft(dout, s.out, true, g);
    doutsAcross.packLeft(dout, s.out, false, g);
  }
  void clearQueries(Range) { std::fill_n(dqueries, s.group * querySteps * steps * square, 0.0f); }
  void beginKeys(Range) {
    std::fill_n(dkeys, steps * square, 0.0f);
    std::fill_n(dvalues, valueSteps * square, 0.0f);
  }

  /// scores[count][lanes] and the cotangents of probabilities.
  void score(const Place &at, float *scores, float *dprobabilities) const {
    multiply(queries.at(at.query, 0, at.g), at.count, keys.at(at.key), steps, scoreFactor<float>(s),
             scores);
    amx::multiply(douts.at(at.query, 0, at.g), amx::panelsFor(at.count), values.at(at.key),
                  valueSteps, dprobabilities);
  }

  /// dvalues[valueHead][lanes] and dkeys[head][lanes] from probabilities and dscores[count][lanes].
  void addToKeys(const Place &at, const float *probabilities, const float *dscores) {
    addWeighted(doutsAcross, at.g, at.query, probabilities, at.count, dvalues);
    addWeighted(queriesAcross, at.g, at.query, dscores, at.count, dkeys);
  }

  void addToQueries(const Place &at, const float *dscores) {
    amx::splitLines(dscores, at.count, at.keys, weights);
    amx::addAcross(weights, amx::panelsFor(at.count), keysAcross.at(0, at.key), steps,
                   keysAcross.stride(), dquery(at.g, at.query));
  }

  void storeQuery(int64_t g, int64_t i, float scale, bf16 *to) const {
    for (int64_t d = 0; d < s.head; d += amx::kPanel)
      scaleRow(dquery(g, i) + d / amx::kPanel * square + i % amx::kPanel * amx::kPanel, 1, scale,
               std::min(amx::kPanel, s.head - d), to + d, 1);
  }

  float *dkeys, *dvalues; // [head or valueHead, rounded up to panels][lanes]

private:
  /// The squares of this query's panel.
  float *dquery(int64_t g, int64_t i) const {
    return dqueries + (g * querySteps + i / amx::kPanel) * steps * square;
  }

  const AttentionShape &s;
  const int64_t querySteps, steps, valueSteps;
  TiledOperand keys, keysAcross, values;
  TiledOperand queries, queriesAcross, douts, doutsAcross; // of all heads of the group
  float *dqueries; // [group][panel of queries][panel of the head][32][32]
};

} // namespace titan::rt
