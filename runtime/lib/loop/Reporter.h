// Reports of a run: metrics.jsonl, TensorBoard events, console lines, status.json. Rank 0 writes;
// other ranks do nothing.
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
  /// `last` is the final step, `horizon` the last step of the schedule.
  Reporter(Executor &executor, std::string directory, int64_t last, int64_t horizon)
      : executor(executor), directory(std::move(directory)), last(last), horizon(horizon) {}
  ~Reporter();
  Reporter(const Reporter &) = delete;
  Reporter &operator=(const Reporter &) = delete;

  /// Opens the files, and drops content about steps after `step`.
  void begin(int64_t step);
  /// `dataSeconds`: time spent reading data since the previous row.
  void writeRow(const MetricsRow &row, double secondsLeft, double seconds, double dataSeconds);
  /// Makes the reports so far survive a power failure: before a checkpoint, whose resumed run
  /// continues them, and at the end.
  void sync();
  /// The weights that the status describes from now on.
  void setWeights(RunStatus::Weights written) { finalWeights = written; }
  void writeEvaluation(int64_t step, const EvaluationResult &result);
  /// Throws UserError if the first status cannot be written; later failures do not end the run.
  void writeStatus(RunStatus status);
  /// Records the time of a completed step for the next status. Cheap.
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
