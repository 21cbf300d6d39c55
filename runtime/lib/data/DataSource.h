// The samples of a run, in order. Sample g of a run is a function of (seed, g) only. So every mesh
// trains on the same batches, any rank reads just its part, and one number suffices to resume.
#pragma once

#include "Permutation.h"
#include "SampleSet.h"

#include <cstdint>
#include <memory>

namespace titan::rt {

/// The index, in its set, of sample g of the run: epoch e = g / samples, permuted within the epoch
/// by (seed, e).
class SampleOrder {
public:
  /// `shuffle` false keeps the order of the set in every epoch.
  SampleOrder(int64_t samples, uint64_t seed, bool shuffle = true)
      : count(samples), seed(seed), shuffle(shuffle) {}

  int64_t samples() const { return count; }
  int64_t epoch(int64_t sample) const { return sample / count; }
  int64_t operator()(int64_t sample) const;

private:
  int64_t count;
  uint64_t seed;
  bool shuffle;
};

class DataSource {
public:
  /// The set must hold at least one sample.
  DataSource(std::unique_ptr<SampleSet> set, uint64_t seed, bool shuffle = true)
      : set(std::move(set)), sampleOrder(this->set->samples(), seed, shuffle) {}

  const SampleOrder &order() const { return sampleOrder; }
  /// SampleSet::read of the run's sample.
  void read(int64_t sample, size_t input, int64_t first, int64_t count, void *out) const {
    set->read(sampleOrder(sample), input, first, count, out);
  }

private:
  std::unique_ptr<SampleSet> set;
  SampleOrder sampleOrder;
};

} // namespace titan::rt
