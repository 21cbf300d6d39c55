#include "SourceFiles.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "base/files/FileKind.h"
#include "base/text/JsonInfinity.h"
#include "files/ReadFile.h"

#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

namespace {

constexpr const char *generationName = "generation_config.json";

/// Whether the keys of two configurations have the same meanings.
bool describeOneKind(const Json &source, const Json &own) {
  const char *key = own.contains("model_type") ? "model_type" : "architectures";
  const auto member = source.find(key);
  return member != source.end() && *member == own[key];
}

/// The configuration of a folder, which is a run's or not; empty if it is of another kind.
std::string findConfig(const fs::path &folder, const Json &own) {
  for (const char *name : {sourceConfigName, "config.json"})
    if (const std::string path = (folder / name).string();
        isRegular(path) && !findModelConfig(readJsonObject(path), own).is_null())
      return path;
  return "";
}

std::string findGeneration(const fs::path &folder) {
  const std::string path = (folder / generationName).string();
  if (!tokenizerBeside(folder.string()).empty() || !isRegular(path))
    return "";
  readJsonObject(path);
  return path;
}

void copy(const std::string &from, const fs::path &to) {
  std::error_code unknown;
  if (!fs::equivalent(from, to, unknown)) // a run that starts from its own directory
    asFault([&] { copyFileAtomically(from, to.string(), Sync::Content); });
}

} // namespace

Json findModelConfig(const Json &source, const Json &own) {
  Json found;
  if (describeOneKind(source, own))
    found = source;
  for (const Json &object : source)
    if (found.is_null() && object.is_object() && describeOneKind(object, own)) {
      found = object;
      // Keys that stand outside of it.
      for (const char *key : {"bos_token_id", "eos_token_id", "pad_token_id", "dtype",
                              "torch_dtype", "transformers_version"})
        if (source.contains(key) && !object.contains(key))
          found[key] = source[key];
    }
  const Json &first = own["architectures"].front();
  if (!found.is_null() && found.value("/architectures/0"_json_pointer, Json()) != first)
    found["architectures"] = own["architectures"];
  return found;
}

Json readJsonObject(const std::string &path) {
  constexpr size_t longest = size_t{64} << 20;
  Json json = Json::parse(markInfinities(readWholeFile(path, longest)), nullptr,
                          /*allow_exceptions=*/false);
  if (!json.is_object())
    throw UserError(fmt::format("'{}' is no JSON object", path));
  return json;
}

SourceFiles findSourceFiles(const std::string &config, std::span<const WeightSource> sources) {
  SourceFiles files;
  const Json own = config.empty() ? Json() : Json::parse(config)["config"];
  std::vector<std::string> folders;
  for (const bool isWhole : {true, false})
    for (const WeightSource &source : sources)
      if (source.prefix.empty() == isWhole)
        folders.push_back(getSourceFolder(source.path));
  for (const std::string &folder : folders)
    if (files.config.empty() && !own.is_null()) {
      files.config = findConfig(folder, own);
      if (!files.config.empty())
        files.generation = findGeneration(folder);
    }
  if (files.config.empty() && !folders.empty())
    files.generation = findGeneration(folders.front());
  return files;
}

void copyGenerationConfig(const SourceFiles &files, const std::string &to) {
  const fs::path target = fs::path(to) / generationName;
  if (!files.generation.empty() && !isRegular(target.string()))
    copy(files.generation, target);
}

void keepSourceFiles(const SourceFiles &files, const std::string &run, Existing existing) {
  const fs::path config = fs::path(run) / sourceConfigName,
                 generation = fs::path(run) / generationName;
  std::error_code absent;
  if (existing == Existing::Replace && files.config.empty())
    fs::remove(config, absent);
  if (existing == Existing::Replace && tokenizerBeside(run).empty() &&
      !fs::equivalent(files.generation, generation, absent))
    fs::remove(generation, absent);
  const bool isWanted = existing == Existing::Replace || !isRegular(config.string());
  if (isWanted && !files.config.empty())
    copy(files.config, config);
  copyGenerationConfig(files, run);
  syncDirectory(run);
}

} // namespace titan::rt
