// Profiles some steps of a run (`--profile`) and writes the profile to the run's directory.
#pragma once

#include "state/Executor.h"

#include "profile/Trace.h"

#include <chrono>
#include <optional>
#include <string>

namespace titan::rt {

class Profiler {
public:
  /// Profiles `steps` steps (0: none), after the first two of the process.
  Profiler(Executor &executor, std::string runDirectory, int64_t steps)
      : executor(executor), runDirectory(std::move(runDirectory)), steps(steps) {}

  /// Call it before every step, and `finish` after the last one.
  void beforeStep();
  void finish();

  /// Runs `work` as a span of the profile.
  template <typename Work> void during(const char *name, Work work) {
    if (!trace)
      return work();
    auto begin = std::chrono::system_clock::now();
    work();
    trace->span(name, begin);
  }

private:
  Executor &executor;
  std::string runDirectory;
  int64_t steps;
  int64_t seen = 0;           // steps that have started
  std::optional<Trace> trace; // while a profile is taken
};

} // namespace titan::rt
