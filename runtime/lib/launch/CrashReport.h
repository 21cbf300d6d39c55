// What the system ends a process for (a wild pointer, a data file cut under it, an abort) is
// reported like other faults: rank, action and source line, on the console, where torchrun looks
// for it, and in the run's status. Then the signal takes its course.
#pragma once

#include "SafeText.h"

#include "titan/runtime/program.h"

namespace titan::rt {

/// From now on; `running` must outlive the process's work.
void reportCrashes(int rank, const Context &running);

/// Called from a signal handler with the status that the process will end with.
using ExitHook = void (*)(int exitStatus, const SafeText &message);
/// Who else is told of an end by a signal; null: nobody.
void setExitHook(ExitHook note);

/// For signal handlers: " at or after (model.titan:14) all_reduce", where that is known.
void addLocation(SafeText &text);
/// For signal handlers: says what happened in all three places and ends the process.
[[noreturn]] void exitFromHandler(int exitStatus, const SafeText &message);

} // namespace titan::rt
