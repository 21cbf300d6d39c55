// What the steps of a run cost on this rank (`--costs`): the bytes that it sends, by kind of
// collective and mesh axes, and the memory that it touches. The file costs/rank-R.json of the run's
// directory has them in the terms of `titanc info --json`, whose plan they measure. Its numbers of
// collectives and of bytes are sums over the steps of this process.
#pragma once

#include "collectives/Traffic.h"
#include "state/Executor.h"

#include <string>

namespace titan::rt {

class CostReport {
public:
  CostReport(Executor &executor, std::string runDirectory, bool isEnabled)
      : executor(executor), runDirectory(std::move(runDirectory)), isEnabled(isEnabled) {}

  /// Runs a part of a step, and counts what it sends.
  template <typename Work> void during(Work work) {
    if (!isEnabled)
      return work();
    const int64_t before = executor.world().messageBytes();
    executor.setTraffic(&traffic);
    work();
    executor.setTraffic(nullptr);
    messageBytes += executor.world().messageBytes() - before;
  }
  void stepEnded() { ++steps; }
  /// After the last step.
  void write();

private:
  Executor &executor;
  std::string runDirectory;
  bool isEnabled;
  Traffic traffic;
  int64_t messageBytes = 0; // over sockets
  int64_t steps = 0;
};

} // namespace titan::rt
