// Text from a trained model with a vocabulary of bytes: the program's "logits" entry point is run
// on the whole prefix for every new token, padded to the sequence length it was compiled for.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

namespace titan::rt {

/// Prints the prompt and what follows it on rank 0's standard output.
int generate(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
