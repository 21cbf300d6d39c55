// The learning rate of each step: `optimizer.lr` times a schedule of the program with the settings
// of the launch.
#pragma once

#include "Settings.h"

namespace titan::rt {

class LearningRate {
public:
  LearningRate(Schedule schedule, const Settings &settings);

  /// The rate in a step (from 1) of a run of `steps` steps. Does not allocate.
  double at(int64_t step, int64_t steps);
  /// The peak: `optimizer.lr`.
  double peak() const { return peakRate; }

private:
  Schedule schedule;
  std::vector<double> arguments; // of the schedule's function; each call sets step and steps
  double peakRate;
};

} // namespace titan::rt
