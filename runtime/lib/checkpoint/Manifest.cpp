#include "titan/runtime/checkpoint.h"
#include "titan/runtime/checksum.h"
#include "titan/runtime/error.h"
#include "titan/runtime/mapped_file.h"
#include "titan/runtime/metrics.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr const char *fileName = "checkpoint.json";
constexpr const char *checksumKey = "crc32c";
constexpr int64_t format = 1;

const char *nameOf(Manifest::Content content) {
  return content == Manifest::Content::Parameters ? "parameters" : "optimizer";
}

/// Of everything but the checksum itself.
uint32_t checksumOf(Json json) {
  json.erase(checksumKey);
  return crc32c(json.dump());
}

Manifest::File parseFile(const Json &entry) {
  bool parameters = entry.at("content") == nameOf(Manifest::Content::Parameters);
  return {entry.at("name").get<std::string>(),
          parameters ? Manifest::Content::Parameters : Manifest::Content::Optimizer,
          entry.at("bytes").get<int64_t>(), entry.at(checksumKey).get<uint32_t>()};
}

Manifest parse(const Json &json) {
  if (json.at("format").get<int64_t>() != format)
    throw UserError(fmt::format("written in format {}, this program reads format {}",
                                json.at("format").get<int64_t>(), format));
  if (json.at(checksumKey).get<uint32_t>() != checksumOf(json))
    throw UserError("damaged: its checksum does not fit");
  Manifest manifest;
  manifest.step = json.at("step").get<int64_t>();
  manifest.seed = json.at("random").at("seed").get<uint64_t>();
  manifest.sample = json.at("data").at("sample").get<int64_t>();
  manifest.samplesInEpoch = json.at("data").at("samples_in_epoch").get<int64_t>();
  manifest.run = json.value("run", "");
  manifest.isFinite = json.value("finite", true);
  manifest.horizon = json.value("horizon", int64_t{0});
  for (const Json &entry : json.at("files"))
    manifest.files.push_back(parseFile(entry));
  return manifest;
}

/// The step of a directory named step-N, or -1.
int64_t stepOf(const fs::path &directory) {
  std::string name = directory.filename().string();
  int64_t step = -1;
  if (name.rfind("step-", 0) != 0)
    return -1;
  auto [end, error] = std::from_chars(name.data() + 5, name.data() + name.size(), step);
  return error == std::errc() && end == name.data() + name.size() ? step : -1;
}

} // namespace

std::vector<std::string> Manifest::paths(const std::string &directory, Content content) const {
  std::vector<std::string> found;
  for (const File &file : files)
    if (file.content == content)
      found.push_back((fs::path(directory) / file.name).string());
  return found;
}

bool isCheckpoint(const std::string &directory) {
  std::error_code unknown;
  return fs::exists(fs::path(directory) / fileName, unknown);
}

Manifest readManifest(const std::string &directory) {
  std::string path = (fs::path(directory) / fileName).string();
  std::ifstream stream(path);
  if (!stream)
    throw UserError(fmt::format("'{}' is not a checkpoint: it has no {}", directory, fileName));
  try {
    return parse(Json::parse(stream));
  } catch (const Json::exception &error) {
    throw UserError(path + ": damaged: " + error.what());
  } catch (const UserError &error) {
    throw UserError(path + ": " + error.what());
  }
}

void writeManifest(const std::string &directory, const Manifest &manifest) {
  Json json = {
      {"format", format},
      {"run", manifest.run},
      {"step", manifest.step},
      {"finite", manifest.isFinite},
      {"horizon", manifest.horizon},
      {"random", {{"generator", "philox4x32-10"}, {"seed", manifest.seed}}},
      {"data", {{"sample", manifest.sample}, {"samples_in_epoch", manifest.samplesInEpoch}}},
      {"files", Json::array()}};
  for (const Manifest::File &file : manifest.files)
    json["files"].push_back({{"name", file.name},
                             {"content", nameOf(file.content)},
                             {"bytes", file.bytes},
                             {checksumKey, file.crc}});
  json[checksumKey] = checksumOf(json);
  writeFileAtomically((fs::path(directory) / fileName).string(), json.dump(2) + "\n");
}

Manifest::File measureFile(const std::string &directory, const Manifest::File &file) {
  MappedFile mapped((fs::path(directory) / file.name).string());
  constexpr size_t stretch = size_t{16} << 20;
  std::span<const std::byte> rest = mapped.bytes();
  uint32_t sum = 0;
  while (!rest.empty()) {
    size_t count = std::min(rest.size(), stretch);
    sum = crc32c(rest.first(count), sum);
    rest = rest.subspan(count);
    mapped.release();
  }
  return {file.name, file.content, static_cast<int64_t>(mapped.bytes().size()), sum};
}

static bool isFiniteCheckpoint(const std::string &directory) {
  try {
    return readManifest(directory).isFinite;
  } catch (const std::exception &) {
    return false;
  }
}

std::vector<std::string> surplusCheckpoints(const std::string &runDirectory, int64_t keep) {
  std::vector<std::string> surplus;
  int64_t finite = 0, others = 0;
  if (keep > 0)
    for (std::string &directory : listCheckpoints(runDirectory)) // newest first
      if (++(isFiniteCheckpoint(directory) ? finite : others) > keep)
        surplus.push_back(std::move(directory));
  return surplus;
}

std::string latestFinite(const std::string &runDirectory) {
  for (const std::string &directory : listCheckpoints(runDirectory))
    if (isFiniteCheckpoint(directory))
      return directory;
  return "";
}

std::vector<std::string> listCheckpoints(const std::string &runDirectory) {
  std::error_code absent;
  std::vector<std::pair<int64_t, std::string>> found;
  for (const auto &entry : fs::directory_iterator(fs::path(runDirectory) / "checkpoints", absent))
    if (int64_t step = stepOf(entry.path()); step >= 0)
      found.emplace_back(step, entry.path().string());
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> directories;
  for (auto &[step, directory] : found)
    directories.push_back(std::move(directory));
  return directories;
}

} // namespace titan::rt
