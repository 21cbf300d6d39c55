// The products of attention's forward pass on tiles, for the elements and layouts that they take.
#pragma once

#include "TiledOperands.h"

namespace titan::rt {

/// Of one (outer, kv head) pair.
class TiledForward : TiledProducts {
public:
  static bool fits(const AttentionShape &s) { return fitsTiles<bf16>({s.q, s.k, s.v}); }

  TiledForward(const AttentionShape &s, const ForwardMemory<float> &)
      : s(s), keys{s.keys, s.head}, values{s.valueHead, s.keys}, queries{amx::kPanel, s.head} {
    allocate(attention_scratch::kKeyBlock, {&keys, &values, &queries},
             {{&sums, amx::panelsFor(s.valueHead) * square}});
  }

  void load(const bf16 *k, const bf16 *v) {
    keys.packLeft(k, s.k, true);
    values.packLeft(v, s.v, false);
  }
  void loadQueries(const bf16 *q, int64_t count) {
    queries.lines = count;
    queries.packRight(q, s.q, true);
  }

  /// scores[count][lanes], from this key on, which begins a panel.
  void score(int64_t firstKey, int64_t count, float *scores) const {
    multiply(keys.at(firstKey), count, queries.data, keys.steps(), scoreFactor<float>(s), scores);
  }

  /// sums[valueHead][lanes] += values of these keys weighted by probabilities[count][lanes].
  void addValues(int64_t firstKey, int64_t count, const float *probabilities) {
    addWeighted(values, 0, firstKey, probabilities, count, sums);
  }

  float *sums; // [valueHead, rounded up to panels][lanes]

private:
  const AttentionShape &s;
  TiledOperand keys, values, queries;
};

} // namespace titan::rt
