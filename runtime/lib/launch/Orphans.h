// Ranks whose launcher was killed outright (SIGKILL) are told by nobody. They would train on, hold
// the run's lock, and be in the way of the same job started again.
#pragma once

#include "Launch.h"

namespace titan::rt {

/// Whether a rank ends when the process ends that started it: where that is torchrun, mpirun or
/// srun, unless TITAN_ORPHANS is `keep`. Variables of a launcher that were set by hand are none.
bool endsWithLauncher(const LaunchInfo &launch);

} // namespace titan::rt
