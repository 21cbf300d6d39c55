// Weights for programs of PyTorch: `EXE export --dcp DIR`.
#pragma once

#include "settings/Options.h"
#include "settings/Settings.h"
#include "state/Executor.h"

namespace titan::rt {

/// Writes --init-from's weights as a directory of torch.distributed.checkpoint, with the names,
/// layouts and types that `export --hf` gives them. The directory must be empty, or have the files
/// of such a checkpoint only, which are replaced. The first rank writes; until it is done, the
/// directory also has the weights as safetensors files.
int exportDistributed(Executor &executor, const Options &options, const Settings &settings);

} // namespace titan::rt
