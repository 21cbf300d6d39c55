#include "Sampling.h"

#include "base/Error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace titan::rt {

namespace {

/// Zeroes the weights of all tokens that topK or topP exclude; returns the sum of the others.
double restrict(std::vector<double> &weight, const Sampling &sampling) {
  std::vector<size_t> order(weight.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weight[a] > weight[b]; });
  const size_t most =
      sampling.topK > 0 ? std::min(order.size(), static_cast<size_t>(sampling.topK)) : order.size();
  double candidates = 0;
  for (size_t i = 0; i < most; ++i)
    candidates += weight[order[i]];
  double cumulative = 0;
  for (size_t i = 0; i < order.size(); ++i)
    if (i < most && (i == 0 || cumulative < sampling.topP * candidates))
      cumulative += weight[order[i]];
    else
      weight[order[i]] = 0;
  return cumulative;
}

} // namespace

int64_t chooseToken(const std::vector<double> &logits, const Sampling &sampling, double uniform) {
  const double infinity = std::numeric_limits<double>::infinity();
  // A token that a model excludes has the logit -inf.
  if (!std::ranges::all_of(logits, [&](double logit) { return logit < infinity; }) ||
      std::ranges::all_of(logits, [&](double logit) { return logit == -infinity; }))
    throw UserError("the model computes logits that are infinite or not a number, so it writes no "
                    "text: check the weights of --init-from");
  const auto best = std::max_element(logits.begin(), logits.end());
  if (sampling.temperature <= 0)
    return best - logits.begin();
  std::vector<double> weight(logits.size());
  for (size_t i = 0; i < logits.size(); ++i)
    weight[i] = std::exp((logits[i] - *best) / sampling.temperature);
  const bool isRestricted = sampling.topK > 0 || sampling.topP < 1;
  double left = uniform * (isRestricted ? restrict(weight, sampling)
                                        : std::accumulate(weight.begin(), weight.end(), 0.0));
  for (size_t i = 0; i < weight.size(); ++i)
    if ((left -= weight[i]) < 0)
      return static_cast<int64_t>(i);
  return best - logits.begin();
}

} // namespace titan::rt
