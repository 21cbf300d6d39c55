#include "TokenizerFiles.h"

#include "base/Error.h"
#include "files/FileDigest.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

/// The files that transformers saves with a tokenizer, and generation_config.json for its stop
/// tokens.
constexpr const char *tokenizerFiles[] = {
    "tokenizer.json",          "tokenizer.model",   "tokenizer_config.json",
    "special_tokens_map.json", "added_tokens.json", "chat_template.jinja",
    "generation_config.json",  "vocab.json",        "merges.txt"};

bool isFile(const fs::path &path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The directory of `path`, which is the directory or one of its files.
fs::path getFolder(const std::string &path) {
  return isFile(path) ? fs::path(path).parent_path() : fs::path(path);
}

} // namespace

std::string tokenizerBeside(const std::string &path) {
  for (const char *name : {"tokenizer.json", "tokenizer.model"})
    if (!path.empty() && isFile(fs::path(path) / name)) // an empty path is no directory
      return path;
  return "";
}

std::string findTokenizerSource(std::span<const WeightSource> sources) {
  for (const bool isWhole : {true, false})
    for (const WeightSource &source : sources)
      if (source.prefix.empty() == isWhole && !tokenizerBeside(source.path).empty())
        return source.path;
  return "";
}

std::string digestTokenizer(const std::string &path) {
  const fs::path folder = getFolder(path);
  std::set<fs::path> files;
  if (isFile(path))
    files.insert(path);
  for (const char *name :
       {"tokenizer.json", "tokenizer.model", "tokenizer_config.json", "chat_template.jinja"})
    if (isFile(folder / name))
      files.insert(folder / name);
  std::string digest;
  for (const fs::path &file : files)
    digest += fmt::format("{}: {}\n", file.filename().string(), computeDigest(file.string()));
  return digest;
}

void requireSources(std::span<const WeightSource> sources) {
  for (const WeightSource &source : sources) {
    std::error_code error;
    if (!fs::exists(source.path, error))
      throw UserError(fmt::format("--init-from {}: '{}' {}", source.text(), source.path,
                                  error ? "cannot be read: " + error.message()
                                        : std::string("does not exist")));
  }
}

SpecialTokens readSpecialTokens(const std::string &from) {
  SpecialTokens tokens;
  for (const char *name : {"generation_config.json", "config.json"}) {
    const fs::path path = getFolder(from) / name;
    if (!isFile(path))
      continue;
    std::ifstream file(path);
    const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object())
      throw UserError(fmt::format("'{}' is no JSON object", path.string()));
    for (const char *key : {"bos_token_id", "eos_token_id", "pad_token_id"})
      if (json.contains(key))
        tokens.try_emplace(key, json[key].dump());
  }
  return tokens;
}

bool copyTokenizer(const std::string &from, const std::string &to) {
  const fs::path folder = getFolder(from);
  if (tokenizerBeside(folder.string()).empty())
    return false;
  for (const char *name : tokenizerFiles) {
    std::error_code error;
    if (isFile(folder / name) && !fs::equivalent(folder, to, error))
      fs::copy_file(folder / name, fs::path(to) / name, fs::copy_options::overwrite_existing,
                    error);
    if (error)
      throw Fault(fmt::format("cannot copy '{}' to '{}': {}", (folder / name).string(), to,
                              error.message()));
  }
  return true;
}

} // namespace titan::rt
