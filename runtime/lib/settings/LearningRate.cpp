#include "LearningRate.h"

namespace titan::rt {

namespace {

bool isSetting(const std::string &source) {
  return source != "step" && source != "steps";
}

} // namespace

LearningRate::LearningRate(Schedule given, const Settings &settings)
    : schedule(std::move(given)), peakRate(settings.number("optimizer.lr", 1e-3)) {
  for (const std::string &source : schedule.sources)
    arguments.push_back(isSetting(source) ? settings.argument(source) : 0);
}

double LearningRate::at(int64_t step, int64_t steps) {
  if (!schedule.factor)
    return peakRate;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!isSetting(schedule.sources[i]))
      arguments[i] = static_cast<double>(schedule.sources[i] == "step" ? step : steps);
  return peakRate * schedule.factor(arguments.data());
}

} // namespace titan::rt
