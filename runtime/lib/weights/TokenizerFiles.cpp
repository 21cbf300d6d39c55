#include "TokenizerFiles.h"

#include "TokenizerContent.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "files/FileDigest.h"
#include "files/ReadFile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

constexpr const char *tokenizerFiles[] = {
    "tokenizer.json",          "tokenizer.model",   "tokenizer_config.json",
    "special_tokens_map.json", "added_tokens.json", "chat_template.jinja",
    "generation_config.json",  "vocab.json",        "merges.txt"};

/// The most bytes of a file of a tokenizer; the largest published ones have 40 MiB.
constexpr size_t longestFile = size_t{1} << 30;

/// Whether something that is no folder has this name, such as a pipe.
bool isPresent(const fs::path &path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_directory(status);
}

bool isFile(const fs::path &path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The directory of `path`, which is the directory or one of its files.
fs::path getFolder(const std::string &path) {
  return isFile(path) ? fs::path(path).parent_path() : fs::path(path);
}

/// Why this is not the content of the file `name`; empty if it may be. A link in a directory of
/// weights may lead to any file, which a copy would publish.
std::string findFault(const std::string &name, const std::string &content) {
  const std::string_view kind = std::string_view(name).substr(name.rfind('.'));
  if (kind == ".json")
    return nlohmann::json::accept(content) ? "" : "it is not JSON";
  if (kind == ".jinja")
    return content.find("{{") != content.npos || content.find("{%") != content.npos
               ? ""
               : "it is not a template";
  if (kind == ".txt")
    return isListOfMerges(content) ? "" : "its lines are not pairs of tokens";
  return isProtobufOfModel(content) || isListOfRanks(content)
             ? ""
             : "it is neither a SentencePiece model nor a list of tokens";
}

} // namespace

/// The directory of the run of a checkpoint, a directory; empty for other paths.
static std::string getRun(const std::string &path) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(fs::path(path) / "", ignored);
  const fs::path folder = whole.lexically_normal().parent_path();
  const bool isOfRun =
      folder.parent_path().filename() == "checkpoints" && isFile(folder / "checkpoint.json");
  return isOfRun ? folder.parent_path().parent_path().string() : "";
}

std::string getSourceFolder(const std::string &path) {
  const std::string run = getRun(path);
  return run.empty() ? getFolder(path).string() : run;
}

std::string tokenizerBeside(const std::string &path) {
  for (const char *name : {"tokenizer.json", "tokenizer.model"})
    if (!path.empty() && isPresent(fs::path(path) / name)) // an empty path is no directory
      return path;
  return "";
}

std::string findTokenizerSource(std::span<const WeightSource> sources) {
  for (const bool isWhole : {true, false})
    for (const WeightSource &source : sources)
      if (source.prefix.empty() == isWhole)
        for (const std::string &path : {source.path, getRun(source.path)})
          if (!tokenizerBeside(path).empty())
            return path;
  return "";
}

std::vector<TokenizerDigest> digestTokenizerFiles(const std::string &path) {
  const fs::path folder = getFolder(path);
  std::set<fs::path> files;
  if (isFile(path))
    files.insert(path);
  for (const char *name :
       {"tokenizer.json", "tokenizer.model", "tokenizer_config.json", "chat_template.jinja"})
    if (isFile(folder / name))
      files.insert(folder / name);
  std::vector<TokenizerDigest> digests;
  for (const fs::path &file : files)
    digests.push_back({file.string(), computeDigest(file.string())});
  return digests;
}

std::string digestTokenizer(const std::string &path) {
  std::string all;
  for (const TokenizerDigest &file : digestTokenizerFiles(path))
    all += fmt::format("{}: {}\n", fs::path(file.path).filename().string(), file.digest);
  return all;
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

std::span<const char *const> getTokenizerFiles() {
  return tokenizerFiles;
}

bool isTokenizerFile(std::string_view name) {
  return std::ranges::any_of(tokenizerFiles, [&](const char *file) { return name == file; });
}

void checkTokenizer(const std::string &from) {
  const fs::path folder = getFolder(from);
  if (tokenizerBeside(folder.string()).empty())
    return;
  for (const char *name : tokenizerFiles) {
    const std::string path = (folder / name).string();
    if (!isPresent(path))
      continue;
    if (const std::string fault = findFault(name, readWholeFile(path, longestFile)); !fault.empty())
      throw UserError(fmt::format("'{}' is no file of a tokenizer: {}", path, fault));
  }
}

bool copyTokenizer(const std::string &from, const std::string &to, Existing existing) {
  const fs::path folder = getFolder(from), target = to;
  if (tokenizerBeside(folder.string()).empty())
    return false;
  std::error_code unknown;
  for (const char *name : tokenizerFiles) {
    if (!isFile(folder / name) || fs::equivalent(folder, target, unknown))
      continue;
    const bool isWanted = existing == Existing::Replace || !isFile(target / name) ||
                          fs::file_size(target / name, unknown) == 0;
    if (isWanted)
      asFault([&] {
        copyFileAtomically((folder / name).string(), (target / name).string(), Sync::Content);
      });
  }
  syncDirectory(target);
  return true;
}

void replaceTokenizer(const std::string &from, const std::string &to) {
  if (!copyTokenizer(from, to))
    return;
  const fs::path folder = getFolder(from);
  std::error_code absent;
  for (const char *name : tokenizerFiles)
    if (!isFile(folder / name) && isFile(fs::path(to) / name))
      fs::remove(fs::path(to) / name, absent);
}

} // namespace titan::rt
