// Decides whether a rank ends with its launcher. Ranks are not notified when their launcher is
// killed (SIGKILL). They would continue to train, hold the run's lock, and block a restart of the
// job.
#pragma once

#include "Launch.h"

namespace titan::rt {

/// Whether a rank ends with its parent process: if the parent is torchrun, mpirun or srun, unless
/// TITAN_ORPHANS is `keep`. Launcher variables that were set by hand do not count.
bool endsWithLauncher(const LaunchInfo &launch);

} // namespace titan::rt
