#include "Sampling.h"

#include "base/Error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace titan::rt {

namespace {

/// Zeroes the weights of all tokens that topK, topP or minP exclude; returns the sum of the others.
/// The greatest weight is 1.
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
  double sum = 0;
  for (double &each : weight) {
    each = each < sampling.minP ? 0 : each;
    sum += each;
  }
  return sum;
}

} // namespace

void penalizeRepetition(std::vector<double> &logits, std::span<const int64_t> text,
                        double penalty) {
  if (penalty == 1)
    return;
  std::vector<bool> isPenalized(logits.size());
  for (const int64_t token : text) {
    const auto index = static_cast<size_t>(token);
    if (token < 0 || index >= logits.size() || isPenalized[index])
      continue;
    isPenalized[index] = true;
    logits[index] = logits[index] < 0 ? logits[index] * penalty : logits[index] / penalty;
  }
}

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
  const bool isRestricted = sampling.topK > 0 || sampling.topP < 1 || sampling.minP > 0;
  double left = uniform * (isRestricted ? restrict(weight, sampling)
                                        : std::accumulate(weight.begin(), weight.end(), 0.0));
  for (size_t i = 0; i < weight.size(); ++i)
    if ((left -= weight[i]) < 0)
      return static_cast<int64_t>(i);
  return best - logits.begin();
}

} // namespace titan::rt
