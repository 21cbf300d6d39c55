// Progress and speed of a run: metrics rows from the outputs and times of steps.
#pragma once

#include "TrainStep.h"
#include "settings/Settings.h"
#include "state/Executor.h"

#include "metrics/Metrics.h"

#include <chrono>
#include <optional>

namespace titan::rt {

inline double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class Progress {
public:
  using Clock = std::chrono::steady_clock;

  /// `last` is the final step.
  Progress(Executor &executor, TrainStep &trainStep, const Settings &settings, int64_t last);

  /// Starts the clocks, after `step` and before the next step.
  void begin(int64_t step);
  /// The time spent reading data since the previous row.
  double dataSeconds() const { return readingSeconds; }
  void addDataSeconds(double seconds) { readingSeconds += seconds; }

  /// The row of the latest step. Collective; the device must have completed the step.
  MetricsRow makeRow(int64_t step, double rate, double secondsSinceRow);
  /// The time since the previous row.
  double secondsSinceRow() const;
  /// Call it after the row is written.
  void endRow(int64_t step);

  double seconds() const; ///< since the start
  double secondsLeft(int64_t step) const;

private:
  Executor &executor;
  TrainStep &trainStep;
  int64_t last, firstStep = 0, rowStep = 0;
  std::optional<double> peakTflops; // of one rank's device; empty: unknown
  Clock::time_point beginning, rowTime;
  double readingSeconds = 0;
};

} // namespace titan::rt
