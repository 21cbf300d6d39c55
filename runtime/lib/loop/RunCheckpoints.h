// The checkpoints that a run saves between its steps, and what the run says about them. A
// checkpoint may be completed during later steps (CheckpointWriter.h); the next one waits for that.
#pragma once

#include "Profiler.h"
#include "Reporter.h"
#include "checkpoint/CheckpointWriter.h"

#include <optional>
#include <string>

namespace titan::rt {

class RunCheckpoints {
public:
  RunCheckpoints(Executor &executor, const Settings &settings, std::string runDirectory,
                 Reporter &report, Profiler &profiler);

  /// The checkpoint of this step is one that SIGUSR1 asked for.
  void setRequested(int64_t step) { requested = step; }
  /// Waits for the checkpoint that is being saved, if any, before that of `step` begins.
  void waitForPrevious(int64_t step);
  /// Begins the checkpoint of a step, and completes it, too, unless it is saved in the background.
  void begin(Manifest position);
  /// Whether this rank has nothing left to do in the current phase of a save.
  bool isReady() { return writer.isReady(); }
  /// Goes on with a checkpoint that is saved in the background. All ranks are ready.
  void advance();
  /// Completes the checkpoint that is being saved, if any.
  void finish();
  /// Likewise after an error, if that needs no other rank. Throws nothing.
  void finishAfterError();

private:
  void noteEnd();

  Executor &executor;
  std::string runDirectory;
  Reporter &report;
  Profiler &profiler;
  CheckpointWriter writer;
  std::optional<int64_t> begun;     ///< the step of a checkpoint that is perhaps not complete
  std::optional<int64_t> requested; ///< the latest step that SIGUSR1 asked to save
  bool hasWaited = false;           ///< a checkpoint for the previous one
};

} // namespace titan::rt
