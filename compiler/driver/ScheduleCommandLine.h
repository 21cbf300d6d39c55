// The command line of `titanc schedule`.
#pragma once

#include "compiler/driver/ScheduleOptions.h"

namespace CLI {
class App;
}

namespace titan::driver {

/// Adds the command, without the options that select a run. It refuses combinations of options
/// without effect.
CLI::App *addSchedule(CLI::App &app, ScheduleOptions &options);

} // namespace titan::driver
