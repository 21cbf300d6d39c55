// Machine files: a machine as TOML. docs/machines.md describes the keys.
#pragma once

#include "base/machine/Machine.h"
#include "base/settings/Toml.h"

#include <string_view>

namespace titan {

/// A mistake in a machine file, with its position in the text.
struct MachineMistake {
  std::string message;
  TomlLocation location;
};

/// A machine, or the first mistake: an unknown key, a missing one, a value of another type, a
/// number out of its range.
struct MachineFile {
  std::optional<Machine> machine;
  MachineMistake mistake;
};

MachineFile readMachine(std::string_view text);

/// The text of a file that `readMachine` reads as `machine`; efficiencies of bandwidths are 1.
std::string writeMachine(const Machine &machine);

} // namespace titan
