// GEMMs of the attention forward pass on a MatrixUnit, for the layouts that it supports.
#pragma once

#include "PackedOperands.h"

namespace titan::rt {

/// Products.h for one (outer, kv head) pair.
class PackedForward : PackedProducts {
public:
  static bool fits(const AttentionShape &s) { return matrixUnit() && fitsUnit({s.q, s.k, s.v}); }

  PackedForward(const AttentionShape &s, const ForwardMemory<float> &)
      : PackedProducts(*matrixUnit()), s(s), keys{s.keys, s.head}, values{s.valueHead, s.keys},
        queries{kUnitPanel, s.head} {
    allocate(attention_scratch::kKeyBlock, {&keys, &values, &queries},
             {{&sums, unitPanels(s.valueHead) * kUnitBlockElements}});
  }

  void load(const bf16 *k, const bf16 *v, IndexRange /*keys: all are packed*/) {
    packLeft(k, s.k, /*isKContiguous=*/true, keys);
    packLeft(v, s.v, /*isKContiguous=*/false, values);
  }
  void loadQueries(const bf16 *q, int64_t count) {
    queries.rows = count;
    packRight(q, s.q, /*isKContiguous=*/true, queries);
  }

  /// scores[count][lanes] from `firstKey`, which starts a panel.
  void score(int64_t firstKey, int64_t count, float *scores) const {
    unit.multiply(keys.at(firstKey), count, queries.data, s.head, scoreFactor<float>(s), scores);
  }

  /// sums[valueHead][lanes] += the values of `count` keys from `firstKey`, weighted by
  /// probabilities[count][lanes].
  void addValues(int64_t firstKey, int64_t count, const float *probabilities) {
    addWeighted(values, 0, firstKey, probabilities, count, sums);
  }

  /// Rounds and stores the sums of `count` lanes.
  void store(bf16 *out, int64_t count) const {
    PackedProducts::store(sums, s.valueHead, 1, out, getRowStrides(s.out), count);
  }

  float *sums; // [valueHead, rounded up to panels][lanes]

private:
  const AttentionShape &s;
  PackedOperand keys, values, queries;
};

} // namespace titan::rt
