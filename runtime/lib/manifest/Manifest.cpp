#include "Manifest.h"
#include "ManifestFormat.h"
#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "base/files/FileKind.h"
#include "files/Checksum.h"
#include "files/ReadFile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

using manifest::Json;

uint32_t manifest::computeChecksum(Json json) {
  json.erase(checksumKey);
  return crc32c(json.dump());
}

std::vector<std::string> Manifest::paths(const std::string &directory, Content content) const {
  std::vector<std::string> found;
  for (const File &file : files)
    if (file.content == content)
      found.push_back((fs::path(directory) / file.name).string());
  return found;
}

bool isCheckpoint(const std::string &directory) {
  std::error_code unknown;
  return fs::exists(fs::path(directory) / manifest::fileName, unknown);
}

static Json toJson(const std::vector<Identity::Input> &inputs) {
  Json json = Json::array();
  for (const Identity::Input &input : inputs)
    json.push_back({{"name", input.name}, {"path", input.path}, {"digest", input.digest}});
  return json;
}

void writeManifest(const std::string &directory, const Manifest &written) {
  Json json = {{"format", manifest::format},
               {"run", written.run},
               {"model", written.model},
               {"step", written.step},
               {"finite", written.isFinite},
               {"horizon", written.horizon},
               {"random", {{"generator", "philox4x32-10"}, {"seed", written.seed}}},
               {"data",
                {{"sample", written.sample},
                 {"samples_in_epoch", written.samplesInEpoch},
                 {manifest::inputsKey, toJson(written.identity.data)}}},
               {manifest::tokenizerKey, toJson(written.identity.tokenizer)},
               {"files", Json::array()}};
  if (written.identity.passes)
    json[manifest::passesKey] = toJson(*written.identity.passes);
  for (const Manifest::File &file : written.files)
    json["files"].push_back({{"name", file.name},
                             {"content", manifest::getName(file.content)},
                             {"bytes", file.bytes},
                             {manifest::checksumKey, file.crc}});
  json[manifest::checksumKey] = manifest::computeChecksum(json);
  writeFileAtomically((fs::path(directory) / manifest::fileName).string(), json.dump(2) + "\n",
                      Sync::Content);
}

Measured measureFile(const std::string &directory, const Manifest::File &file) {
  Measured found;
  found.error =
      readChunks((fs::path(directory) / file.name).string(), [&](std::span<const std::byte> chunk) {
        found.crc = crc32c(chunk, found.crc);
        found.bytes += static_cast<int64_t>(chunk.size());
        return file.bytes == 0 || found.bytes <= file.bytes;
      });
  return found;
}

int64_t readStep(const std::string &directory) {
  fs::path path(directory);
  std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
  int64_t step = -1;
  if (!name.starts_with("step-"))
    return -1;
  auto [end, error] = std::from_chars(name.data() + 5, name.data() + name.size(), step);
  bool isOwnName = error == std::errc() && name == fmt::format("step-{}", step);
  return isOwnName ? step : -1;
}

std::string getCheckpointPath(const std::string &runDirectory, int64_t step) {
  return (fs::path(runDirectory) / "checkpoints" / fmt::format("step-{}", step)).string();
}

/// Whether a folder exists; an error if the path is something else or unreachable. Only a missing
/// name means no folder.
static bool hasFolder(const fs::path &path) {
  struct stat entry, folder;
  if (::lstat(path.c_str(), &entry) != 0 && errno == ENOENT)
    return false;
  std::string why;
  if (::stat(path.c_str(), &folder) != 0)
    why = std::strerror(errno);
  else if (!S_ISDIR(folder.st_mode))
    why = fmt::format("it is {}, not a folder", describeKind(folder));
  else
    return true;
  std::error_code unknown;
  if (fs::path to = fs::read_symlink(path, unknown); !to.empty())
    why = fmt::format("a symbolic link to '{}', which cannot be reached: {}", to.string(), why);
  throw UserError(fmt::format("cannot read '{}': {}", path.string(), why));
}

std::vector<int64_t> listSteps(const std::string &runDirectory) {
  const fs::path checkpoints = fs::path(runDirectory) / "checkpoints";
  if (!hasFolder(runDirectory) || !hasFolder(checkpoints))
    return {};
  std::vector<int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator entry(checkpoints, error), end; !error && entry != end;
       entry.increment(error))
    if (int64_t step = readStep(entry->path().string()); step >= 0)
      steps.push_back(step);
  if (error)
    throw UserError(fmt::format("cannot read '{}': {}", checkpoints.string(), error.message()));
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

/// False for an unreadable checkpoint.
static bool isFiniteCheckpoint(const std::string &directory) {
  try {
    return readManifest(directory).isFinite;
  } catch (const std::exception &) {
    return false;
  }
}

std::vector<std::string> surplusCheckpoints(const std::string &runDirectory,
                                            const Retention &retention) {
  if (retention.keep <= 0)
    return {};
  std::vector<std::string> surplus;
  int64_t finite = 0, others = 0;
  for (int64_t step : listSteps(runDirectory)) { // newest first
    std::string directory = getCheckpointPath(runDirectory, step);
    const bool isFinite = isFiniteCheckpoint(directory);
    const bool isRetained = isFinite && retention.keepEvery > 0 && step % retention.keepEvery == 0;
    if (++(isFinite ? finite : others) > retention.keep && !isRetained)
      surplus.push_back(std::move(directory));
  }
  return surplus;
}

std::string findLatestFinite(const std::string &runDirectory) {
  for (const std::string &directory : listCheckpoints(runDirectory))
    if (isFiniteCheckpoint(directory))
      return directory;
  return "";
}

std::vector<std::string> listCheckpoints(const std::string &runDirectory) {
  std::vector<std::string> directories;
  for (int64_t step : listSteps(runDirectory))
    directories.push_back(getCheckpointPath(runDirectory, step));
  return directories;
}

} // namespace titan::rt
