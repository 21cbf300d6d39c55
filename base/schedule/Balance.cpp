#include "base/schedule/Balance.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace titan::schedule {

namespace {

constexpr double impossible = std::numeric_limits<double>::infinity();

/// A cost of one stage with the layers from `first` to `end` - 1.
using StageCost = std::function<double(size_t stage, size_t first, size_t end)>;

/// Distributes layers so that the largest cost of a stage is least (dynamic programming from the
/// last stage).
class Distribution {
public:
  Distribution(size_t stages, size_t layers, StageCost cost)
      : cost(std::move(cost)), least(stages + 1, std::vector<double>(layers + 1, impossible)) {
    least[stages][layers] = 0;
    for (size_t stage = stages; stage-- > 0;)
      for (size_t first = 0; first < layers; ++first)
        for (size_t end = first + 1; end <= layers; ++end)
          least[stage][first] = std::min(least[stage][first], computeLargest(stage, first, end));
  }

  /// The largest cost of a stage in the best distribution.
  double getLeastCost() const { return least[0][0]; }

  /// The layers of each stage; the first stages have as many as possible.
  std::vector<int64_t> getLayerCounts() const {
    std::vector<int64_t> counts;
    size_t first = 0;
    for (size_t stage = 0; stage + 1 < least.size(); ++stage) {
      size_t end = least[0].size() - 1;
      while (computeLargest(stage, first, end) > getLeastCost())
        --end;
      counts.push_back(static_cast<int64_t>(end - first));
      first = end;
    }
    return counts;
  }

private:
  /// The largest cost of this stage, which has the layers from `first` to `end` - 1, and of the
  /// later stages, which have the layers from `end` on.
  double computeLargest(size_t stage, size_t first, size_t end) const {
    return std::max(cost(stage, first, end), least[stage + 1][end]);
  }

  StageCost cost;
  /// [stage][layer]: the least possible largest cost of the stages from `stage` on if they have the
  /// layers from `layer` on.
  std::vector<std::vector<double>> least;
};

} // namespace

std::vector<int64_t> distributeLayers(const LayerTimes &times, const std::vector<int> &slots) {
  const size_t stages = slots.size(), layers = times.layers.size();
  std::vector<double> sums(layers + 1, 0);
  for (size_t i = 0; i < layers; ++i)
    sums[i + 1] = sums[i] + times.layers[i];
  auto time = [&](size_t stage, size_t first, size_t end) {
    return sums[end] - sums[first] + (stage == 0 ? times.before : 0) +
           (stage + 1 == stages ? times.after : 0);
  };
  // The sums of equal times are rounded differently.
  constexpr double rounding = 1e-9;
  const double most = Distribution(stages, layers, time).getLeastCost() * (1 + rounding);
  return Distribution(stages, layers,
                      [&](size_t stage, size_t first, size_t end) {
                        return time(stage, first, end) > most
                                   ? impossible
                                   : double(slots[stage]) * double(end - first);
                      })
      .getLayerCounts();
}

} // namespace titan::schedule
