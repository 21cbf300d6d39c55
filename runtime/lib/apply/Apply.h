// The command `apply`: the outputs of the model for the samples of a data set, as arrays.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

namespace titan::rt {

/// Writes NAME.npy for each output, with a row for each sample, in the order of the set; and the
/// pictures of an output, if the options name one. Collective.
int apply(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
