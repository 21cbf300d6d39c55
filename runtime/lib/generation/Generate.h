// Text generation. For every new token, the program's "logits" function runs on the complete
// prefix, padded to the compiled sequence length.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

namespace titan::rt {

/// Prints the prompt and its continuation on rank 0's standard output.
int generate(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
