// The distribution of layers over the stages of a pipeline.
#pragma once

#include <cstdint>
#include <vector>

namespace titan::schedule {

/// The time of one microbatch, in any unit.
struct LayerTimes {
  std::vector<double> layers;   ///< of each layer
  double before = 0, after = 0; ///< of the first and the last stage, without layers
};

/// The number of layers of each stage, in order; at least 1. `slots` has, for each stage, the
/// microbatches whose residuals it keeps at once (assignStashSlots).
///
/// 1. The largest time of a stage is least: it is the time of a microbatch in the steady state.
/// 2. Of these distributions, the largest product of slots and layers is least: the memory of
///    residuals.
/// 3. Of these, the first stages have most layers.
///
/// Requires as many layers as stages, or more.
std::vector<int64_t> distributeLayers(const LayerTimes &times, const std::vector<int> &slots);

} // namespace titan::schedule
