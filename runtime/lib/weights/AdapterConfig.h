// adapter_config.json: how PEFT describes the adapters of a directory.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace titan::rt {

inline constexpr const char *adapterConfigName = "adapter_config.json";

/// The configurations of a program's adapters by the names of the adapted parameters, from the text
/// of the program's configuration; an empty object if there are none.
nlohmann::ordered_json getAdapterConfigs(const std::string &programConfig);

/// The one configuration of these adapters. Throws UserError if they differ.
nlohmann::ordered_json getCommonConfig(const nlohmann::ordered_json &adapters);

/// Refuses the adapters of a directory whose configuration differs from that of the program: their
/// tensors would mean other updates. Accepts a directory without adapters. Throws UserError.
void checkAdapterConfig(const std::string &programConfig, const std::string &directory);

} // namespace titan::rt
