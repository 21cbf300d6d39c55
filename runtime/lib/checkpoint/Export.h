// Weights for other software: `EXE export --hf DIR`.
#pragma once

#include "Checkpoint.h"
#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"
#include "weights/WeightStore.h"

#include <string>
#include <vector>

namespace titan::rt {

/// Writes --init-from's weights as a safetensors file, or several with an index, and a config.json:
/// that of the weights' source with the changes of the program, or else the program's. Tensors have
/// the names and layouts of the program's weight map; without a map they keep the names of the
/// .titan file, one per layer. The element type of a tensor is, in this order, --dtype, the type of
/// the source's tensor of this name, `export.dtype`, or the program's. Copies the tokenizer of the
/// command line or of --init-from's directory, and generation_config.json.
int exportWeights(Executor &executor, const Options &options, const Settings &settings);

/// Writes the weights that an export has to `folder`: the safetensors files of exportWeights,
/// without an index. Collective.
std::vector<Shard> saveExportedWeights(Executor &executor, const Options &options,
                                       const Settings &settings, const LoadedWeights &loaded,
                                       const std::string &folder);

/// The element type in safetensors for `--dtype`; empty for `auto`.
std::string getStoredType(const std::string &name);

} // namespace titan::rt
