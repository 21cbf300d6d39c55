#include "ExportDirectory.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "base/files/Safetensors.h"
#include "state/TensorFiles.h"
#include "weights/WeightTable.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

constexpr const char *writerKey = "written_by", *writerName = "titan export";
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
  return name.ends_with(".safetensors");
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

void refuseSources(const std::string &path, std::span<const WeightSource> sources) {
  for (const WeightSource &source : sources) {
    std::error_code missing;
    const fs::path folder = fs::is_directory(source.path, missing)
                                ? fs::path(source.path)
                                : fs::absolute(source.path).parent_path();
    if (fs::equivalent(folder, path, missing))
      throw UserError(fmt::format(
          "--hf '{}' is the directory of --init-from: the export would replace its configuration, "
          "and its weights without the tensors that the program does not need. Pass another "
          "directory",
          path));
  }
}

} // namespace

void ExportDirectory::check(const std::string &path, std::span<const WeightSource> sources) {
  refuseSources(path, sources);
  std::vector<std::string> foreign;
  for (const std::string &name : listNames(path)) {
    if (name == "status.json" || name == "checkpoint.json")
      throw UserError(fmt::format("--hf '{}' is the directory of a run, as its file '{}' shows: "
                                  "pass another directory, such as '{}'",
                                  path, name, (fs::path(path) / "hf").string()));
    if (isWeights(name) && !isOfExport(fs::path(path) / name))
      foreign.push_back(name);
  }
  if (!foreign.empty())
    throw UserError(fmt::format("--hf '{}' has weights that are not of an export: {}. Other "
                                "software could load them in place of the new ones: pass another "
                                "directory, or remove these files",
                                path, listSome(foreign)));
}

std::map<std::string, std::string> ExportDirectory::metadata() {
  return {{"format", "pt"}, {writerKey, writerName}};
}

std::string ExportDirectory::folderIn(const std::string &path) {
  return (fs::path(path) / (std::string("export") + temporarySuffix)).string();
}

ExportDirectory::ExportDirectory(std::string path) : path(std::move(path)) {
  makeDirectory(this->path, "the directory of an export");
  std::error_code ignored; // makeDirectory reports a folder that cannot be removed
  fs::remove_all(folderIn(this->path), ignored);
  makeDirectory(folderIn(this->path), "a folder of an export");
}

ExportDirectory::~ExportDirectory() {
  std::error_code ignored; // the next export removes a folder that remains
  fs::remove_all(folderIn(path), ignored);
}

static void removeFile(const fs::path &file) {
  std::error_code error;
  fs::remove(file, error);
  if (error)
    throw Fault(fmt::format("cannot remove '{}': {}", file.string(), error.message()));
}

void ExportDirectory::publish() {
  const fs::path from = folderIn(path), to = path;
  std::vector<std::string> names = listNames(from);
  std::ranges::stable_partition(names, [](const std::string &name) { return name != indexName; });
  // Shards of both exports may have the same names: without an index, nobody loads a mixture.
  std::error_code ignored; // there may be none
  fs::remove(to / indexName, ignored);
  syncDirectory(to);
  for (const std::string &name : names) {
    std::error_code error;
    fs::rename(from / name, to / name, error);
    if (error)
      throw Fault(fmt::format("cannot write '{}': {}", (to / name).string(), error.message()));
  }
  syncDirectory(to);
  const std::set<std::string> written(names.begin(), names.end());
  for (const std::string &name : listNames(to))
    if (!written.count(name) && (name == indexName || (isWeights(name) && isOfExport(to / name))))
      removeFile(to / name);
  syncDirectory(to);
}

} // namespace titan::rt
