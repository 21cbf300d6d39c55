// Adapters for other software: `EXE export --peft DIR`.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

namespace titan::rt {

/// Writes the adapters of --init-from as adapter_model.safetensors and adapter_config.json, which
/// PEFT loads beside the model. The compiler gives names, layouts and the configuration
/// (compiler/sema/interchange/AdapterFiles.h). The element type is --dtype, or the program's.
int exportAdapters(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
