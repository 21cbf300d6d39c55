// What a run will write, looked at before it begins.
#pragma once

#include "settings/Options.h"
#include "state/Executor.h"

#include <string>

namespace titan::rt {

/// Refuses what cannot be written, as far as that shows without writing. All ranks call it.
void checkOutputs(Executor &executor, const Options &options, const std::string &runDirectory);

} // namespace titan::rt
