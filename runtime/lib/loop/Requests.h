// What a training run does after a step must be the same on all ranks, whoever of them was asked.
#pragma once

#include "state/Executor.h"

namespace titan::rt {

struct Requests {
  int stop = 0;      ///< the signal that asks to stop, or 0
  bool save = false; ///< SIGUSR1 has come
  bool isFinite = true;
};

/// One exchange of a few numbers. `isFinite`: of this rank; all must find it. All ranks call it.
Requests agreeOnRequests(Executor &executor, bool isFinite);
/// The signal that asks to stop, alone: whether to save is left for after the next step.
int agreeOnStop(Executor &executor);

} // namespace titan::rt
