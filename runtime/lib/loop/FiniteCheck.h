// The reaction to an infinite or NaN loss or gradient (`on_nonfinite`).
#pragma once

#include "Reporter.h"
#include "TrainStep.h"
#include "settings/Settings.h"
#include "state/Executor.h"

#include <string>

namespace titan::rt {

/// The setting `on_nonfinite`.
enum class OnNonFinite {
  Stop, ///< the run ends with the exit status of NotFinite
  Skip, ///< the program skips the update of the step
  Warn
};

/// What is known of the cause of a step that is not finite, as texts for messages.
struct NonFiniteCause {
  std::string found; ///< the operations that made such numbers; empty: nobody looked for them
  std::string help;  ///< the command that finds them; empty if they are found
};

class FiniteCheck {
public:
  FiniteCheck(Executor &executor, const TrainStep &trainStep, const Settings &settings,
              std::string runDirectory);

  /// Starts the check of a run that begins after `step`, which was finite or not.
  void begin(int64_t step, bool isFinite);

  /// Whether loss and gradient norm of the latest step are finite on this rank. Does not allocate
  /// on CPUs. A device must have completed the step. Call it before another function overwrites the
  /// values.
  bool readsFinite() const;
  /// Records the collective result for the latest step, whose values are still readable.
  void setResult(int64_t step, bool isFinite);
  /// Whether the latest step is finite on all ranks. Collective; waits for a device.
  bool isFinite(int64_t step);

  /// Whether the latest step is known to be non-finite and still to be reported.
  bool isUnreported(int64_t step) const;
  /// Whether the latest step is the run's end. All ranks call it.
  bool endsRun(int64_t step) { return !isFinite(step) && mustEnd(); }
  /// Reports a step that is not finite, with its cause. Throws NotFinite if the step ends the run.
  void handleNonFinite(int64_t step, Reporter &report, const NonFiniteCause &cause);
  /// Whether the program leaves parameters, optimizer state and buffers of such a step unchanged.
  bool skipsUpdates() const { return policy == OnNonFinite::Skip; }

private:
  /// Whether the run must end if its latest step is not finite.
  bool mustEnd() const;
  std::string describe() const;
  std::string describeGoodCheckpoint() const;
  std::string describeRemedy(int64_t step) const;

  Executor &executor;
  const TrainStep &trainStep;
  const OnNonFinite policy;
  const std::string runDirectory;

  int64_t checkedStep = 0; // the step of `finite`
  int64_t firstStep = 1;   // of this process
  bool finite = true;      // whether that step is finite
  std::string problem;     // of the latest non-finite step
  int reports = 0;
  int nonFiniteInRow = 0; // consecutive steps up to `checkedStep`
};

} // namespace titan::rt
