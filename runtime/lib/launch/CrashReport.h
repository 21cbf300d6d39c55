// Reports fatal signals (a wild pointer, a truncated data file, an abort) like other faults, with
// rank, action and source line: on the console, in the file that torchrun reads, and in the run's
// status. Then the signal takes effect.
#pragma once

#include "SafeText.h"

#include "titan/runtime/program.h"

namespace titan::rt {

/// Installs the handlers; `running` must outlive the process's work.
void reportCrashes(int rank, const Context &running);

/// Called from a signal handler with the final exit status.
using ExitHook = void (*)(int exitStatus, const SafeText &message);
/// Sets a further receiver of reports; null: none.
void setExitHook(ExitHook hook);

/// For signal handlers: " at or after (model.titan:14) all_reduce", if it is known.
void addLocation(SafeText &text);
/// For signal handlers: reports to all three receivers and ends the process.
[[noreturn]] void exitFromHandler(int exitStatus, const SafeText &message);

} // namespace titan::rt
