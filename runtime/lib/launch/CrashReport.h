// What the system ends a process for (a wild pointer, a data file cut under it, an abort) is
// reported like other faults: rank, action and source line, on the console and where torchrun looks
// for it. Then the signal takes its course.
#pragma once

#include "titan/runtime/program.h"

namespace titan::rt {

/// From now on; `running` must outlive the process's work.
void reportCrashes(int rank, const Context &running);

} // namespace titan::rt
