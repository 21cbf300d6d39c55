// The products of attention's forward pass on tiles, for the elements and layouts that they take.
#pragma once

#include "ThreadScratch.h"
#include "TiledOperands.h"

namespace titan::rt {

/// Of one (outer, kv head) pair.
class TiledForward {
public:
  TiledForward(const AttentionShape &s, bool isUsed, int64_t mostKeys)
      : scope(isUsed), s(s), isUsed(isUsed), steps(amx::panelsFor(s.head)),
        valuePanels(amx::panelsFor(s.valueHead)), keySteps(amx::panelsFor(s.keys)) {
    if (!isUsed)
      return;
    const int64_t sizes[] = {
        amx::packedElements(s.keys, s.head), amx::packedElements(s.valueHead, s.keys),
        amx::packedElements(amx::kPanel, s.head), amx::packedElements(amx::kPanel, mostKeys)};
    const int64_t sumElements = valuePanels * amx::kPanel * amx::kPanel;
    ThreadScratch &scratch = ThreadScratch::ofThread(
        static_cast<size_t>(2 * (sizes[0] + sizes[1] + sizes[2] + 2 * sizes[3]) + 4 * sumElements));
    keys = scratch.take<uint16_t>(sizes[0]);
    values = scratch.take<uint16_t>(sizes[1]);
    queries = scratch.take<uint16_t>(sizes[2]);
    weights.high = scratch.take<uint16_t>(sizes[3]);
    weights.low = scratch.take<uint16_t>(sizes[3]);
    sums = scratch.take<float>(sumElements);
  }

  explicit operator bool() const { return isUsed; }

  void load(const void *k, const void *v) {
    amx::packLeft(linesOf(k, s.k), s.keys, s.head, keys);
    amx::packLeft(depthOf(v, s.v), s.valueHead, s.keys, values);
  }
  void loadQueries(const void *q, int64_t count) {
    amx::packRight(linesOf(q, s.q), count, s.head, queries);
  }

  /// scores[count][lanes] times a factor, from this key on, which begins a panel.
  void score(int64_t firstKey, int64_t count, float factor, float *scores) const {
    const int64_t panels = amx::panelsFor(count);
    amx::multiply(keys + amx::panelsFor(firstKey) * steps * amx::kStep, panels, queries, steps,
                  scores);
#pragma omp simd
    for (int64_t i = 0; i < panels * amx::kPanel * amx::kPanel; ++i)
      scores[i] *= factor;
  }

  /// sums[valueHead][lanes] += values of these keys weighted by probabilities[count][lanes].
  void addValues(int64_t firstKey, int64_t count, const float *probabilities) {
    amx::splitDepth(probabilities, count, weights);
    amx::add(values + amx::panelsFor(firstKey) * amx::kStep, valuePanels, keySteps * amx::kStep,
             weights, amx::panelsFor(count), sums);
  }

  float *sums; // [valueHead, rounded up to panels][lanes]

private:
  const amx::TileScope scope;
  const AttentionShape &s;
  const bool isUsed;
  const int64_t steps, valuePanels, keySteps;
  uint16_t *keys, *values, *queries; // panels of keys, of value dimensions, of lanes
  amx::Halves weights;
};

} // namespace titan::rt
