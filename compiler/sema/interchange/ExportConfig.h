// Writes the configuration of a model for other software: evaluates the equations of its
// declaration.
#pragma once

#include "compiler/sema/interchange/ConfigMap.h"

namespace titan::sema {

/// The declarations of configurations for a model (DeclarationsFor.h).
std::vector<Symbol> findConfigs(const Symbol &model, const Unit &unit, const Library &library);

/// The configuration of a model with these arguments, and samples of this length, as JSON. Nothing
/// if the declaration cannot express them: an argument that no key gives differs from that of the
/// declaration's model, or an equation has no value.
std::optional<std::string> exportConfig(const ConfigMap &map,
                                        const std::map<std::string, Argument> &arguments,
                                        const Value &length, const Library &library,
                                        const SourceManager &sources);

} // namespace titan::sema
