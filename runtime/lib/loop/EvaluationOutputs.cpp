#include "EvaluationOutputs.h"

#include "base/Error.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace titan::rt {

namespace {

double find(const NamedNumbers &numbers, const std::string &name) {
  auto found = std::find_if(numbers.begin(), numbers.end(),
                            [&](const auto &one) { return one.first == name; });
  if (found == numbers.end())
    throw Fault("the program has no output '" + name + "'");
  return found->second;
}

/// Divides outputs into losses and metrics.
EvaluationNumbers sorted(const NamedNumbers &outputs, bool hasVocabulary) {
  constexpr std::string_view lossPrefix = "loss.", metricPrefix = "metric.";
  EvaluationNumbers numbers;
  std::optional<double> unnamed;
  for (const auto &[output, value] : outputs) {
    if (output == "loss")
      numbers.loss = value;
    else if (output == lossPrefix)
      unnamed = value;
    else if (output.starts_with(lossPrefix))
      numbers.losses.push_back({output.substr(lossPrefix.size()), value});
    else if (output.starts_with(metricPrefix))
      numbers.metrics.push_back({output.substr(metricPrefix.size()), value});
  }
  if (hasVocabulary && (unnamed || numbers.losses.size() <= 1))
    numbers.perplexity = std::exp(unnamed.value_or(numbers.loss));
  return numbers;
}

} // namespace

void EvaluationOutputs::add(const NamedNumbers &outputs, double weight) {
  weights += weight;
  sums.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    sums[i].first = outputs[i].first;
    sums[i].second += weight * outputs[i].second;
  }
}

EvaluationNumbers EvaluationOutputs::numbers() const {
  NamedNumbers outputs = sums;
  for (auto &[name, value] : outputs)
    value /= weights;
  for (const EvaluatedOutput &output : program.evaluated) {
    std::vector<double> arguments;
    for (const std::string &source : output.sources)
      arguments.push_back(find(outputs, source));
    outputs.push_back({output.name, output.value(arguments.data())});
  }
  return sorted(outputs, program.vocab != 0);
}

} // namespace titan::rt
