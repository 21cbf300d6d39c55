// What a run tells while it goes: rows of metrics.jsonl, events for TensorBoard, lines on the
// console, status.json. Rank 0 writes; on the others every call is nothing.
#pragma once

#include "Evaluation.h"
#include "state/Executor.h"

#include "metrics/EventFile.h"
#include "metrics/Metrics.h"
#include "metrics/StatusFile.h"

#include <optional>
#include <string>

#include <fmt/format.h>

namespace titan::rt {

class Reporter {
public:
  /// `last` is the step to end after, `horizon` that of the schedule.
  Reporter(Executor &executor, std::string directory, int64_t last, int64_t horizon)
      : executor(executor), directory(std::move(directory)), last(last), horizon(horizon) {}
  ~Reporter();
  Reporter(const Reporter &) = delete;
  Reporter &operator=(const Reporter &) = delete;

  /// Opens the files; what they say about steps after `step` is dropped.
  void begin(int64_t step);
  /// `dataSeconds`: of the time since the row before, what went into reading data.
  void row(const MetricsRow &row, double secondsLeft, double seconds, double dataSeconds);
  /// What was told up to now survives a loss of power: before a checkpoint from which a run goes on
  /// behind these rows, and at the end.
  void sync();
  /// What the status says from here on of the weights that the run has written.
  void weights(RunStatus::Weights written) { finalWeights = written; }
  void evaluation(int64_t step, const EvaluationResult &result);
  /// Throws UserError where a run that begins cannot write it; later it is no reason to end.
  void status(RunStatus status);
  /// Cheap, once a step.
  void stepEnded(int64_t step) {
    if (statusFile)
      statusFile->noteStep(step);
  }

  template <typename... Args> void say(fmt::format_string<Args...> format, Args &&...args) {
    if (!executor.isFirst())
      return;
    std::printf("%s\n", fmt::format(format, std::forward<Args>(args)...).c_str());
    std::fflush(stdout);
  }

  template <typename... Args> void warn(fmt::format_string<Args...> format, Args &&...args) {
    if (executor.isFirst())
      std::fprintf(stderr, "warning: %s\n",
                   fmt::format(format, std::forward<Args>(args)...).c_str());
  }

private:
  Executor &executor;
  std::string directory;
  int64_t last, horizon;
  std::optional<MetricsFile> metrics;
  std::optional<EventFile> events;
  std::optional<StatusFile> statusFile;
  std::optional<RunStatus::Weights> finalWeights;
};

} // namespace titan::rt
