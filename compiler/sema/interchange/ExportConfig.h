// Writes the configuration of a model for other software: evaluates the equations of its
// declaration.
#pragma once

#include "compiler/sema/interchange/ConfigMap.h"

namespace titan::sema {

/// The declarations of configurations for a model (DeclarationsFor.h).
std::vector<Symbol> findConfigs(const Symbol &model, const Unit &unit, const Library &library);

/// The configuration of a model with these arguments, and samples of this length, as the JSON text
/// `{"config": CONFIG, "lines": LINES}`. CONFIG has the first key of each equation, without absent
/// `optional` objects. LINES has one object for each equation and each `optional`, with which an
/// export changes the configuration of the weights' source (runtime/lib/checkpoint/MergeConfig.h):
///
/// - an equation: its alternative `keys`, each a list of members; its `value`; `optional` if a
///   configuration without these keys has the same meaning, and `nullable` if one with null has;
///   `length` if the equation reads the length of samples.
/// - an `optional`: its alternative `keys`; its `lines`; `written` if CONFIG has it; and after
///   `unless`, the `absentKey` and `absentValue`.
///
/// Nothing if the declaration cannot express the arguments: an argument that no key gives differs
/// from that of the declaration's model, or an equation has no value.
std::optional<std::string> exportConfig(const ConfigMap &map,
                                        const std::map<std::string, Argument> &arguments,
                                        const Value &length, const Library &library,
                                        const SourceManager &sources);

} // namespace titan::sema
