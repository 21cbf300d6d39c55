// The samples of a run, in order, from one data set or from several by weight. Sample g of a run is
// a function of (seed, g) only. So every mesh trains on the same batches, each rank reads only its
// shards, and one number suffices to resume.
#pragma once

#include "MixtureOrder.h"
#include "Permutation.h"
#include "SampleSet.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace titan::rt {

/// The order in which the samples of one set are read: operator() returns the index of the g-th
/// one. Epoch e = g / samples reads every sample once, permuted by (seed, e).
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
  /// A data set of the mixture.
  struct Component {
    double weight;
    std::string path;
    std::unique_ptr<SampleSet> set; ///< of at least one sample
  };
  /// How much of a data set a run has read.
  struct Usage {
    std::string path;
    int64_t samples;
    double epochs;
  };

  DataSource(std::vector<Component> components, uint64_t seed, bool shuffle = true);

  /// Samples of all sets.
  int64_t samples() const;
  /// Reads elements of sample number `sample` of the run, as SampleSet::read does.
  void read(int64_t sample, size_t input, int64_t first, int64_t count, void *out) const {
    const MixtureOrder::Choice choice = mixture(sample);
    components[choice.set].set->read(orders[choice.set](choice.sample), input, first, count, out);
  }
  /// The data of each set that the run reads before this sample.
  std::vector<Usage> usageBefore(int64_t sample) const;

private:
  std::vector<Component> components;
  std::vector<SampleOrder> orders; ///< of the components
  MixtureOrder mixture;
};

} // namespace titan::rt
