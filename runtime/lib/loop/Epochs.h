// The length of a run as passes over its data, `--epochs`.
#pragma once

#include "data/Data.h"
#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

namespace titan::rt {

/// The settings of the training data. Throws UserError if the run has none.
DataSettings requireData(const Settings &settings);

/// The settings with the steps of the epochs, the last of which may be a part of a batch.
/// Collective.
Settings countSteps(Executor &executor, const Options &options, Settings settings);

} // namespace titan::rt
