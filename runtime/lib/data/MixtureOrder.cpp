#include "MixtureOrder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace titan::rt {

namespace {

constexpr double fractionOne = 0x1p32;

/// floor(g * fraction / 2^32), from the halves of g, whose products fit.
int64_t countSamples(int64_t g, uint64_t fraction) {
  const uint64_t high = static_cast<uint64_t>(g) >> 32, low = static_cast<uint64_t>(g) & UINT32_MAX;
  return static_cast<int64_t>(high * fraction + (low * fraction >> 32));
}

} // namespace

MixtureOrder::MixtureOrder(std::vector<double> weights) {
  // As fractions of the greatest, so that their sum is finite.
  const double greatest = *std::max_element(weights.begin(), weights.end());
  if (!std::isfinite(std::accumulate(weights.begin(), weights.end(), 0.0)))
    for (double &weight : weights)
      weight /= greatest;
  double rest = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double weight : weights) {
    fractions.push_back(
        static_cast<uint64_t>(std::llround(std::min(weight / rest, 1.0) * fractionOne)));
    rest -= weight;
  }
  fractions.back() = static_cast<uint64_t>(fractionOne); // despite the rounding of `rest`
}

MixtureOrder::Choice MixtureOrder::operator()(int64_t g) const {
  for (size_t set = 0;; ++set) {
    const int64_t before = countSamples(g, fractions[set]);
    if (countSamples(g + 1, fractions[set]) > before)
      return {set, before};
    g -= before;
  }
}

std::vector<int64_t> MixtureOrder::counts(int64_t g) const {
  std::vector<int64_t> counts;
  for (uint64_t fraction : fractions) {
    counts.push_back(countSamples(g, fraction));
    g -= counts.back();
  }
  return counts;
}

} // namespace titan::rt
