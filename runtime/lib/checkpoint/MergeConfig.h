// The config.json of an export whose weights come from a configuration of other software.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

namespace titan::rt {

/// `source` with the fewest changes that make it the configuration of a program whose samples have
/// `positions` positions. `lines` describes the program (compiler/sema/interchange/ExportConfig.h).
///
/// A key with the program's value stays as it is written, and an absent or null key stays if its
/// meaning is the program's value. A key that states the longest context stays unless the program's
/// samples are longer. All other keys of equations get the program's values. Keys without an
/// equation are unchanged.
nlohmann::ordered_json mergeConfig(nlohmann::ordered_json source,
                                   const nlohmann::ordered_json &lines, int64_t positions);

} // namespace titan::rt
