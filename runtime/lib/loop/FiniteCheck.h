// What a run does about a loss or a gradient that is infinite or not a number (`on_nonfinite`).
#pragma once

#include "Reporter.h"
#include "settings/Settings.h"
#include "state/Executor.h"

#include <string>

namespace titan::rt {

enum class OnNonFinite {
  Stop, ///< the run ends with a status of its own
  Skip, ///< the program leaves out the update of the step
  Warn
};

class FiniteCheck {
public:
  FiniteCheck(Executor &executor, const Settings &settings, std::string runDirectory);

  /// A run begins after this step.
  void begin(int64_t step, bool isFinite);

  /// Whether loss and norm of the latest step are finite on this rank. On processors, where it asks
  /// for no memory; a device must have ended the step. Before another function of the program runs,
  /// which overwrites both.
  bool readsFinite() const;
  /// What all ranks have agreed on of the latest step, which reads as it was.
  void setResult(int64_t step, bool isFinite);
  /// Of the latest step, the same on all ranks, which all call it. A device is waited for.
  bool isFinite(int64_t step);

  /// Whether the latest step is known not to be finite, and that is worth saying.
  bool isUnreported(int64_t step) const;
  /// Whether the latest step is the run's end. All ranks call it.
  bool endsRun(int64_t step) { return policy == OnNonFinite::Stop && !isFinite(step); }
  /// Of a step that is not finite: throws NotFinite where it ends the run, else says so.
  void handleNonFinite(int64_t step, Reporter &report);

private:
  struct Scalar {
    const Tensor *tensor;
    const std::byte *data;
  };
  Scalar find(const char *name) const;
  double read(const Scalar &scalar) const;
  std::string describe() const;
  std::string describeGood() const;

  Executor &executor;
  const OnNonFinite policy;
  const std::string runDirectory;
  const Scalar loss, norm;

  int64_t checkedStep = 0; // the step that is known of
  bool finite = true;      // that step
  std::string problem;     // of the latest step that was not
  int reports = 0;
};

} // namespace titan::rt
