// How far a run is and how fast: rows of metrics from what a step gives and from the time it took.
#pragma once

#include "settings/Settings.h"
#include "state/Executor.h"

#include "metrics/Metrics.h"

#include <chrono>
#include <optional>

namespace titan::rt {

class Progress {
public:
  using Clock = std::chrono::steady_clock;

  /// `last` is the step to end after.
  Progress(Executor &executor, const Settings &settings, int64_t last);

  /// Starts the clocks, before the step after this one.
  void begin(int64_t step);
  /// Of the time since the row before, what went into reading data.
  double dataSeconds() const { return readingSeconds; }
  void addDataSeconds(double seconds) { readingSeconds += seconds; }

  /// What a row tells of the latest step. All ranks call it, after the device has ended the step.
  MetricsRow row(int64_t step, double rate, double secondsSinceRow);
  /// Since the row before.
  double secondsSinceRow() const;
  /// The row is written.
  void endRow(int64_t step);

  double seconds() const; ///< since the beginning
  double secondsLeft(int64_t step) const;

private:
  Executor &executor;
  int64_t last, firstStep = 0, rowStep = 0;
  std::optional<double> peakTflops; // of one rank's device
  Clock::time_point beginning, rowTime;
  double readingSeconds = 0;
};

} // namespace titan::rt
