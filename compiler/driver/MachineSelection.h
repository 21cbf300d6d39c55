// The machine that `--machine` names.
#pragma once

#include "base/machine/Machine.h"
#include "compiler/driver/CompilerInstance.h"

namespace titan::driver {

/// Reads a file, or a machine of the library by its name ("h100": stdlib/machines/h100.toml).
/// Nothing after an error, which is reported.
std::optional<Machine> loadMachine(CompilerInstance &instance, const std::string &name);

} // namespace titan::driver
