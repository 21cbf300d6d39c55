// The busy times of the steps of all ranks (SlowRanks.h). Two clock reads per step and per wait for
// another rank; the ranks compare their times with each row of the metrics.
#pragma once

#include "SlowRanks.h"
#include "state/Executor.h"

#include <chrono>
#include <string>

namespace titan::rt {

class StepTimes {
public:
  explicit StepTimes(Executor &executor);

  void beginStep();
  void endStep();
  /// A note on a rank that is repeatedly slower than the others; empty if there is none.
  /// Collective. Nothing on devices, where the host does not wait for the others.
  std::string findSlowRank(int64_t step);

private:
  Executor &executor;
  SlowRanks ranks;
  std::chrono::steady_clock::time_point begin;
  double waitedAtBegin = 0;
  double busy = 0;   ///< seconds since the previous comparison
  int64_t steps = 0; ///< likewise
};

} // namespace titan::rt
