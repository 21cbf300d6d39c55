// The command `generate`: continues prompts.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

namespace titan::rt {

/// Writes the prompts and their continuations on rank 0's standard output, and the tokens per
/// second on its standard error. Collective.
int generate(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
