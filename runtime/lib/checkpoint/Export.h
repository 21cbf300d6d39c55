// Weights for other software: `EXE export --hf DIR`.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

namespace titan::rt {

/// Writes --init-from's weights as a safetensors file, or several with an index, and a config.json:
/// that of the weights' source with the changes of the program, or else the program's. Tensors have
/// the names and layouts of the program's weight map; without a map they keep the names of the
/// .titan file, one per layer. The element type of a tensor is, in this order, --dtype, the type of
/// the source's tensor of this name, `export.dtype`, or the program's. Copies the tokenizer of the
/// command line or of --init-from's directory, and generation_config.json.
int exportWeights(Executor &executor, const Options &options, const Settings &settings);

/// The element type in safetensors for `--dtype`; empty for `auto`.
std::string getStoredType(const std::string &name);

} // namespace titan::rt
