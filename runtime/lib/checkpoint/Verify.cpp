#include "Verify.h"

#include "files/ReadFile.h"

#include "base/Error.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

std::string findFirstProblem(Executor &executor, const std::string &own) {
  World &world = executor.world();
  if (world.size() == 1)
    return own;
  int64_t found = own.empty() ? 0 : 1;
  std::vector<int64_t> all(static_cast<size_t>(world.size()));
  world.worldGroup().allGather(&found, all.data(), 1, DType::I64, {"comparing checkpoints", ""});
  auto first = std::find(all.begin(), all.end(), 1);
  if (first == all.end())
    return "";
  const auto rank = static_cast<int>(first - all.begin());
  std::array<int64_t, 256> words = {}; // 2 KiB of text
  char *text = reinterpret_cast<char *>(words.data());
  own.copy(text, sizeof words - 1);
  world.worldGroup().broadcast(words.data(), words.size(), DType::I64, rank,
                               {"comparing checkpoints", ""});
  bool isOfAll = std::find(all.begin(), all.end(), 0) == all.end();
  return isOfAll ? text : fmt::format("rank {}: {}", rank, text);
}

std::vector<size_t> listMeasured(Executor &executor, size_t count) {
  std::vector<size_t> own;
  for (size_t i = static_cast<size_t>(executor.world().rank()); i < count;
       i += static_cast<size_t>(executor.world().size()))
    own.push_back(i);
  return own;
}

void gatherMeasurements(Executor &executor, std::vector<Measured> &measured) {
  constexpr size_t numbers = 3; // of each file
  std::vector<int64_t> found(numbers * measured.size());
  for (size_t i : listMeasured(executor, measured.size())) {
    found[numbers * i] = measured[i].bytes;
    found[numbers * i + 1] = measured[i].crc;
    found[numbers * i + 2] = measured[i].error;
  }
  executor.world().worldGroup().allReduce(found.data(), static_cast<int64_t>(found.size()),
                                          DType::I64, Reduction::Sum, {"comparing checksums", ""});
  for (size_t i = 0; i < measured.size(); ++i)
    measured[i] = {found[numbers * i], static_cast<uint32_t>(found[numbers * i + 1]),
                   found[numbers * i + 2]};
}

std::vector<Measured> measureFiles(Executor &executor, const std::string &directory,
                                   const std::vector<Manifest::File> &files) {
  std::vector<Measured> measured(files.size());
  for (size_t i : listMeasured(executor, files.size()))
    measured[i] = measureFile(directory, files[i]);
  gatherMeasurements(executor, measured);
  return measured;
}

std::string findDamage(Executor &executor, const std::string &directory,
                       const std::vector<Manifest::File> &files) {
  std::vector<Measured> now = measureFiles(executor, directory, files);
  for (size_t i = 0; i < now.size(); ++i) {
    const Manifest::File &then = files[i];
    std::string path = (fs::path(directory) / then.name).string();
    if (now[i].error != noReadError)
      return fmt::format("{} cannot be read: {}", path, describe(now[i].error));
    if (now[i].bytes != then.bytes)
      return fmt::format("{} has {}{} bytes, {} were written", path,
                         now[i].bytes > then.bytes ? "at least " : "", now[i].bytes, then.bytes);
    if (now[i].crc != then.crc)
      return fmt::format("{} is damaged: its checksum is {:08x}, {:08x} was written", path,
                         now[i].crc, then.crc);
  }
  return "";
}

RunStatus::Weights computeWeightsChecksum(const std::string &directory) {
  Measured found = measureFile(directory, {"model.safetensors", Manifest::Content::Parameters});
  if (found.error != noReadError)
    throw Fault(
        fmt::format("cannot read '{}/model.safetensors': {}", directory, describe(found.error)));
  return {found.bytes, found.crc};
}

Manifest verifyCheckpoint(Executor &executor, const std::string &directory, std::string &problem) {
  Manifest manifest;
  std::string own;
  try {
    manifest = readManifest(directory);
  } catch (const UserError &error) {
    own = error.what();
  }
  problem = findFirstProblem(executor, own);
  if (problem.empty())
    problem = findDamage(executor, directory, manifest.files);
  return manifest;
}

} // namespace titan::rt
