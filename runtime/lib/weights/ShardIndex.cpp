#include "ShardIndex.h"
#include "base/Error.h"

#include <set>

#include <nlohmann/json.hpp>

namespace titan::rt {

/// Whether a directory can contain a file of this name.
static bool isFileName(std::string_view name) {
  constexpr std::string_view separators("/\0", 2);
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(separators) == name.npos;
}

std::vector<std::string> listShardFiles(std::string_view text, const std::string &path) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    throw UserError(path + ": not an index of safetensors files (no weight_map)");
  std::set<std::string> names;
  for (const auto &[tensor, file] : json["weight_map"].items()) {
    if (!file.is_string() || !isFileName(file.get_ref<const std::string &>()))
      throw UserError(path + ": tensor '" + tensor +
                      "' is not mapped to a file name in this directory");
    names.insert(file.get<std::string>());
  }
  return {names.begin(), names.end()};
}

} // namespace titan::rt
