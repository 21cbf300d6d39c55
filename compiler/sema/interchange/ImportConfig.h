// Reads a configuration of other software: solves the equations of its declaration for the
// arguments of the model.
#pragma once

#include "compiler/sema/interchange/ConfigMap.h"

namespace titan::sema {

/// An argument in the order of the model's parameters, with the location of the key that gave it.
using NamedArgument = std::pair<std::string, Argument>;

struct ImportedConfig {
  std::vector<NamedArgument> arguments; ///< that differ from those of the declaration's model
  std::optional<int64_t> length;        ///< of samples for which the model is made, in positions
  std::vector<std::string> ignored;     ///< keys without effect on the model, sorted
};

/// Empty after errors, which are reported at the keys of the configuration: a key without a
/// line, a missing key, or a value that the model cannot have.
std::optional<ImportedConfig> importConfig(const ConfigMap &map, const ConfigValue &config,
                                           const Library &library, DiagnosticEngine &diags);

} // namespace titan::sema
