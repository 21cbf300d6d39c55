// The median of measured values, which single slow executions do not change.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

namespace titan::calibration {

/// The upper of the two middle values for an even number; nothing of no values.
inline std::optional<double> getMedian(std::vector<double> values) {
  if (values.empty())
    return std::nullopt;
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace titan::calibration
