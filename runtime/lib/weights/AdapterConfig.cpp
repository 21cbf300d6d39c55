#include "AdapterConfig.h"
#include "SourceFiles.h"

#include "base/Error.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json getAdapterConfigs(const std::string &programConfig) {
  if (programConfig.empty())
    return Json::object();
  const Json config = Json::parse(programConfig);
  const auto found = config.find("adapters");
  return found == config.end() ? Json::object() : *found;
}

/// Whether the key acts in training alone, so that adapters mean the same with another value.
static bool actsInTrainingAlone(const std::string &programConfig, const std::string &key) {
  const Json config = Json::parse(programConfig);
  const auto found = config.find("adapter_training");
  return found != config.end() && std::ranges::find(*found, Json(key)) != found->end();
}

Json getCommonConfig(const Json &adapters) {
  const Json &first = adapters.front();
  for (const auto &[name, config] : adapters.items())
    if (config != first)
      throw UserError(fmt::format("the adapters of {} and {} differ in their arguments, which one "
                                  "{} cannot say: export them merged, by --hf",
                                  adapters.begin().key(), name, adapterConfigName));
  return first;
}

void checkAdapterConfig(const std::string &programConfig, const std::string &directory) {
  const fs::path path = fs::path(directory) / adapterConfigName;
  std::error_code missing;
  if (!fs::is_regular_file(path, missing))
    return;
  const Json given = readJsonObject(path.string()), adapters = getAdapterConfigs(programConfig);
  if (adapters.empty())
    throw UserError(fmt::format("'{}' has adapters, but the program has none of this kind: write "
                                "one by `titanc import --lora RANK`",
                                directory));
  const Json common = getCommonConfig(adapters);
  for (const auto &[key, own] : common.items()) {
    const auto found = given.find(key);
    const bool isEmpty =
        found == given.end() || found->is_null() || (found->is_structured() && found->empty());
    if (!isEmpty && *found != own && !actsInTrainingAlone(programConfig, key))
      throw UserError(fmt::format("'{}': `{}` is {}, but the program's adapters have {}",
                                  path.string(), key, found->dump(), own.dump()));
  }
}

} // namespace titan::rt
