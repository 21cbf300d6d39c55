// Text from a trained model with a vocabulary of bytes: the program's "logits" entry point is run
// on the whole prefix for every new token, padded to the sequence length it was compiled for.
#pragma once

#include "Executor.h"
#include "Options.h"
#include "Settings.h"

namespace titan::rt {

/// Prints the prompt and what follows it on rank 0's standard output.
int generate(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
