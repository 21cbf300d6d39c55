// The learning rate of each step: `optimizer.lr` times the program's schedule with the settings of
// the launch.
#pragma once

#include "Settings.h"

namespace titan::rt {

class LearningRate {
public:
  LearningRate(const Program &program, const Settings &settings);

  /// In a step (from 1) of a run of `steps` steps.
  double at(int64_t step, int64_t steps) const;
  /// The peak: `optimizer.lr`.
  double peak() const { return peakRate; }

private:
  Schedule schedule;
  std::vector<double> arguments; // those of settings; others are set by each call
  double peakRate;
};

} // namespace titan::rt
