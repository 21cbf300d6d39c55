// Collective agreement on the signals of a step: all ranks must act in the same way, whichever rank
// received the signal.
#pragma once

#include "state/Executor.h"

namespace titan::rt {

struct Requests {
  int stop = 0;      ///< the stop signal, or 0
  bool save = false; ///< SIGUSR1 was received
  bool isFinite = true;
  bool isReady = true; ///< for the next phase of a checkpoint
};

/// The requests that any rank has received. The result's `isFinite` and `isReady` hold only if they
/// hold on all ranks. Collective.
Requests agreeOnRequests(Executor &executor, bool isFinite, bool isReady);
/// Agrees only on the stop signal; a save request waits for the next step.
int agreeOnStop(Executor &executor);

} // namespace titan::rt
