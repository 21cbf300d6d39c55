// Checks of a run's output paths before it starts.
#pragma once

#include "settings/Options.h"
#include "state/Executor.h"

#include <string>

namespace titan::rt {

/// Refuses paths that cannot be written, as far as that is visible without writing. Collective.
void checkOutputs(Executor &executor, const Options &options, const std::string &runDirectory);

} // namespace titan::rt
