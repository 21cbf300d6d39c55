// Weights for other software: `EXE export --hf DIR`.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

namespace titan::rt {

/// Writes --init-from's weights as a directory of safetensors files with an index, and config.json
/// with the program's sizes and settings. Tensors have the names of the .titan file, one a layer.
int exportWeights(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
