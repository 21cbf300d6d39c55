// The distribution of layers over the stages of a pipeline.
#pragma once

#include <cstdint>
#include <vector>

namespace titan::schedule {

/// The times that one microbatch takes, in any unit.
struct LayerTimes {
  std::vector<double> layers; ///< in each layer
  double before = 0;          ///< in the first stage, before its layers
  double after = 0;           ///< in the last stage, after its layers
};

/// The number of layers of each stage, in order; at least 1. `slots` is, for each stage, the number
/// of microbatches whose residuals the stage keeps at once (assignStashSlots).
///
/// 1. The largest time of a stage is least: it is the time of a microbatch in the steady state.
/// 2. Of these distributions, the largest product of slots and layers is least: the memory of
///    residuals.
/// 3. Of these, the first stages have most layers.
///
/// Requires at least as many layers as stages.
std::vector<int64_t> distributeLayers(const LayerTimes &times, const std::vector<int> &slots);

} // namespace titan::schedule
