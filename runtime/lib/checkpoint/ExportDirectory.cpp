#include "ExportDirectory.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "base/files/FileKind.h"
#include "base/files/Safetensors.h"
#include "files/ReadFile.h"
#include "manifest/Manifest.h"
#include "state/TensorFiles.h"
#include "weights/TokenizerFiles.h"
#include "weights/WeightTable.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

constexpr const char *writerKey = "written_by", *writerName = "titan export";
/// In each exported config.json.
constexpr const char *configKey = "titan";
constexpr const char *indexName = "model.safetensors.index.json";

std::vector<std::string> listNames(const fs::path &directory) {
  std::vector<std::string> names;
  std::error_code error; // of a directory that does not exist yet
  for (const auto &entry : fs::directory_iterator(directory, error))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// Whether other software may load the file as weights.
bool isWeights(const std::string &name) {
  constexpr const char *endings[] = {".safetensors", ".bin",     ".pt",   ".pth",
                                     ".h5",          ".msgpack", ".gguf", ".ckpt"};
  return std::ranges::any_of(endings, [&](const char *ending) { return name.ends_with(ending); });
}

/// Whether an export may write a file of this name beside the weights.
bool isBesideWeights(const std::string &name) {
  return name == "config.json" || name == "adapter_config.json" || name == "program.titan" ||
         name == indexName || isTokenizerFile(name);
}

/// Whether an earlier export wrote the file; false if it is unreadable.
bool isOfExport(const fs::path &file) {
  try {
    const SafetensorsFile opened(file.string());
    const auto writer = opened.metadata().find(writerKey);
    return writer != opened.metadata().end() && writer->second == writerName;
  } catch (const UserError &) {
    return false;
  }
}

/// Whether an earlier export wrote the directory, perhaps one that ended before its weights came.
bool hasExport(const fs::path &directory, const std::vector<std::string> &names) {
  constexpr size_t longest = size_t{64} << 20;
  if (std::ranges::any_of(names, [&](const std::string &name) {
        return name.ends_with(".safetensors") && isOfExport(directory / name);
      }))
    return true;
  const std::string config = (directory / "config.json").string();
  if (!isRegular(config))
    return false;
  const auto json =
      nlohmann::json::parse(readWholeFile(config, longest), nullptr, /*allow_exceptions=*/false);
  return json.is_object() && json.contains(configKey);
}

void refuseSources(const std::string &path, std::span<const WeightSource> sources) {
  for (const WeightSource &source : sources) {
    std::error_code missing;
    const fs::path folder = fs::is_directory(source.path, missing)
                                ? fs::path(source.path)
                                : fs::absolute(source.path).parent_path();
    if (fs::equivalent(folder, path, missing))
      throw UserError(fmt::format(
          "'{}' is the directory of --init-from: the export would replace its configuration, "
          "and its weights without the tensors that the program does not need. Pass another "
          "directory",
          path));
  }
}

[[noreturn]] void refuseRun(const std::string &path, const std::string &file,
                            const fs::path &instead) {
  throw UserError(fmt::format("'{}' is the directory of a run, as its file '{}' shows: "
                              "pass another directory, such as '{}'",
                              path, file, instead.string()));
}

void refuseRuns(const std::string &path, const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    const bool isCheckpoint = readStep(name) >= 0 && fs::is_directory(fs::path(path) / name);
    if (name == "status.json" || name == "checkpoint.json" || isCheckpoint)
      refuseRun(path, name, fs::path(path) / "hf");
  }
  const fs::path whole = fs::absolute(fs::path(path) / "").lexically_normal().parent_path();
  for (const char *own : {"checkpoints", "replaced", "tensorboard", "profile"})
    if (whole.filename() == own && isRegular((whole.parent_path() / "status.json").string()))
      refuseRun(path, "../status.json", whole.parent_path() / "hf");
}

} // namespace

void ExportDirectory::check(const std::string &path, std::span<const WeightSource> sources) {
  refuseSources(path, sources);
  const std::vector<std::string> names = listNames(path);
  refuseRuns(path, names);
  std::vector<std::string> weights, others;
  for (const std::string &name : names)
    if (isWeights(name) && !isOfExport(fs::path(path) / name))
      weights.push_back(name);
    else if (isBesideWeights(name))
      others.push_back(name);
  if (!weights.empty())
    throw UserError(fmt::format("'{}' has weights that are not of an export: {}. Other "
                                "software could load them in place of the new ones: pass another "
                                "directory, or remove these files",
                                path, listSome(weights)));
  if (!others.empty() && !hasExport(path, names))
    throw UserError(fmt::format("'{}' has files that are not of an export: {}. The export "
                                "would replace them: pass another directory, or remove these files",
                                path, listSome(others)));
  for (const std::string &name : others)
    checkTarget((fs::path(path) / name).string());
}

std::map<std::string, std::string> ExportDirectory::metadata() {
  return {{"format", "pt"}, {writerKey, writerName}};
}

std::string ExportDirectory::folderIn(const std::string &path) {
  return (fs::path(path) / (std::string("export") + temporarySuffix)).string();
}

static constexpr DirectoryLock::Owner lockOwner{"export", "--hf DIR"};

/// Creates the directory, so that it can be locked.
static const std::string &make(const std::string &path) {
  makeDirectory(path, "the directory of an export");
  return path;
}

ExportDirectory::ExportDirectory(std::string where, std::span<const WeightSource> sources)
    : path(std::move(where)), lock(make(path), lockOwner) {
  check(path, sources);    // another export may have ended since the first check
  std::error_code ignored; // makeDirectory reports a folder that cannot be removed
  fs::remove_all(folderIn(path), ignored);
  makeDirectory(folderIn(path), "a folder of an export");
}

ExportDirectory::~ExportDirectory() {
  std::error_code ignored; // the next export removes a folder that remains
  fs::remove_all(folderIn(path), ignored);
  lock.removeFile();
  try {
    syncDirectory(path);             // so that neither comes back
  } catch (const std::exception &) { // the files of the export are on the disk
  }
}

namespace {

void removeFile(const fs::path &file) {
  std::error_code error;
  fs::remove(file, error);
  if (error)
    throw Fault(fmt::format("cannot remove '{}': {}", file.string(), error.message()));
}

/// A file of an export, and its size.
struct NewFile {
  std::string name;
  uintmax_t bytes;
};

/// The new files in the order in which they come: config.json, others, weights, and their index. An
/// export that is interrupted has no weights, but a configuration by which the next one knows it.
std::vector<NewFile> listNewFiles(const fs::path &folder) {
  std::vector<NewFile> files;
  for (const std::string &name : listNames(folder))
    files.push_back({name, fs::file_size(folder / name)});
  std::ranges::stable_sort(files, {}, [](const NewFile &file) {
    return file.name == "config.json" ? 0
           : file.name == indexName   ? 3
           : isWeights(file.name)     ? 2
                                      : 1;
  });
  return files;
}

/// Removes the weights of earlier exports, and their tokenizer if the new export has one: a mixture
/// of two tokenizers would be a third one.
void removeEarlier(const fs::path &directory, const std::vector<NewFile> &files) {
  const bool hasTokenizer = std::ranges::any_of(files, [](const NewFile &file) {
    return isTokenizerFile(file.name) && file.name != "generation_config.json";
  });
  removeFile(directory / indexName);
  for (const std::string &name : listNames(directory))
    if (isWeights(name) && isOfExport(directory / name))
      removeFile(directory / name);
  syncDirectory(directory);
  for (const std::string &name : listNames(directory))
    if (hasTokenizer && isTokenizerFile(name))
      removeFile(directory / name);
}

/// Success is what is there: without locks, another export could have taken files away.
void expectFiles(const fs::path &directory, const std::vector<NewFile> &files) {
  for (const NewFile &file : files) {
    std::error_code error;
    const fs::path path = directory / file.name;
    if (!isRegular(path.string()) || fs::file_size(path, error) != file.bytes || error)
      throw Fault(fmt::format("'{}' is not there as it was written: another process has changed "
                              "the directory. Export again",
                              path.string()));
  }
}

} // namespace

void ExportDirectory::publish() {
  const fs::path from = folderIn(path), to = path;
  const std::vector<NewFile> files = listNewFiles(from);
  asFault([&] {
    for (const NewFile &file : files)
      checkTarget((to / file.name).string());
  });
  removeEarlier(to, files);
  bool hasWeights = false;
  for (const NewFile &file : files) {
    if (isWeights(file.name) && !hasWeights)
      syncDirectory(to); // before the first weights, all others are on the disk
    hasWeights |= isWeights(file.name);
    if (std::rename((from / file.name).c_str(), (to / file.name).c_str()) != 0)
      failToWrite((to / file.name).string(), errno);
  }
  syncDirectory(to);
  expectFiles(to, files);
}

} // namespace titan::rt
