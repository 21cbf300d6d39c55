#include "CheckpointWriter.h"

#include "Verify.h"
#include "rundir/Archive.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "files/Populate.h"
#include "files/ReadFile.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

using Content = Manifest::Content;

/// Bytes of one file of tensors, unless a single tensor is larger. All files of a checkpoint are
/// open at once, so a large checkpoint has larger files instead of more.
constexpr int64_t shardBytes = int64_t{2} << 30;
constexpr int64_t mostFiles = 256; // of each content

int64_t chooseShardBytes(Executor &executor, std::span<const Role> roles) {
  int64_t bytes = 0;
  for (const FileTensor &tensor : listFileTensors(executor, roles))
    bytes += getByteSize(tensor.info);
  return std::max(shardBytes, bytes / mostFiles);
}

/// Renames the directory `partial` to the checkpoint's name. The rename is durable before later
/// checkpoints are archived and old ones removed.
void publish(const std::string &runDirectory, const std::string &partial, int64_t step,
             const Retention &retention) {
  const std::string target = getCheckpointPath(runDirectory, step);
  const fs::path checkpoints = fs::path(target).parent_path();
  syncDirectory(partial);
  if (fs::exists(fs::symlink_status(target)))
    archiveCheckpoint(runDirectory, step, "which is saved again");
  fs::rename(partial, target);
  syncDirectory(checkpoints);
  archiveLaterCheckpoints(runDirectory, step);
  pruneCheckpoints(runDirectory, retention);
}

} // namespace

StagingMemory::~StagingMemory() {
  if (memory)
    device.releaseOnHost(memory, size);
}

std::byte *StagingMemory::require(int64_t bytes) {
  if (bytes <= size)
    return memory;
  if (memory)
    device.releaseOnHost(std::exchange(memory, nullptr), std::exchange(size, 0));
  memory = device.allocateOnHost(bytes);
  size = bytes;
  populate({memory, static_cast<size_t>(bytes)});
  return memory;
}

CheckpointWriter::CheckpointWriter(Executor &executor, const Settings &settings,
                                   std::string runDirectory)
    : executor(executor), runDirectory(std::move(runDirectory)),
      retention{settings.integer("checkpoint.keep", 0),
                settings.integer("checkpoint.keep_every", 0)},
      isInBackground(settings.text("checkpoint.mode", "sync") == "async" &&
                     settings.integer("checkpoint.every", 0) > 0),
      staging(executor.device()) {
  if (!isInBackground)
    return;
  planFiles(); // the memory is there before the first step
  staging.require(countStagedBytes());
  files.clear();
  work.startThread();
}

void CheckpointWriter::begin(Manifest position, std::function<void()> syncReports) {
  finish();
  manifest = std::move(position);
  beforeCommit = std::move(syncReports);
  partial = getCheckpointPath(runDirectory, manifest.step) + temporarySuffix;
  planFiles();
  openFiles();
  if (isInBackground)
    stage();
  beginPhase(Phase::Write, listWrites());
  if (!isInBackground)
    finish();
}

void CheckpointWriter::planFiles() {
  constexpr Role parameters[] = {Role::Parameter}, state[] = {Role::State};
  auto plan = [&](const char *stem, Content content, std::span<const Role> roles) {
    const ShardFiles how{partial, stem, chooseShardBytes(executor, roles)};
    for (PlannedFile &planned : planShards(executor, how, roles)) {
      files.push_back(
          std::make_unique<SharedFile>(executor, (fs::path(partial) / planned.shard.file).string(),
                                       std::move(planned.tensors), how.metadata));
      manifest.files.push_back({planned.shard.file, content});
      if (content == Content::Parameters)
        model.push_back(std::move(planned.shard));
    }
  };
  files.clear();
  model.clear();
  manifest.files.clear();
  plan("model", Content::Parameters, parameters);
  plan("optimizer", Content::Optimizer, state);
}

int64_t CheckpointWriter::countStagedBytes() const {
  int64_t bytes = 0;
  for (const auto &file : files)
    bytes += file->stagedBytes();
  return bytes;
}

/// Ranks that write nothing would reach the barrier early, and the work of the others' devices
/// would count as a wait for the files.
void CheckpointWriter::openFiles() {
  executor.device().synchronize();
  if (executor.isFirst())
    asFault([&] {
      createDirectories(fs::path(partial).parent_path());
      removeUnfinishedCheckpoints(runDirectory);
      if (!fs::create_directory(partial))
        throw UserError("cannot write '" + partial + "': it is there and cannot be removed");
      for (const auto &file : files)
        file->open();
    });
  executor.barrier("creating a checkpoint");
  if (!executor.isFirst())
    for (const auto &file : files)
      file->open();
}

void CheckpointWriter::stage() {
  std::byte *memory = staging.require(countStagedBytes());
  for (const auto &file : files) {
    file->stage(memory);
    memory += file->stagedBytes();
  }
}

void CheckpointWriter::beginPhase(Phase begun, std::vector<BackgroundWork::Task> tasks) {
  phase = begun;
  work.begin(std::move(tasks));
}

void CheckpointWriter::advance() {
  switch (phase) {
  case Phase::None:
    return;
  case Phase::Write:
    return beginPhase(Phase::Sync, listSyncs());
  case Phase::Sync:
    nameFiles();
    return beginPhase(Phase::Measure, listMeasurements());
  case Phase::Measure:
    gatherMeasurements(executor, measured);
    return beginPhase(Phase::Commit, listCommit());
  case Phase::Commit:
    phase = Phase::None;
    files.clear();
    return;
  }
}

void CheckpointWriter::finish() {
  while (isSaving()) {
    waitForRanks();
    advance();
  }
}

/// Ranks meet every second, so that a slow disk of one does not look like a lost rank.
void CheckpointWriter::waitForRanks() {
  while (executor.anyRank(!work.help(std::chrono::seconds(1)))) {
  }
}

std::vector<BackgroundWork::Task> CheckpointWriter::listWrites() {
  std::vector<BackgroundWork::Task> tasks;
  for (const auto &file : files)
    for (size_t index : file->written())
      tasks.emplace_back([&file = *file, index] { file.write(index); });
  return tasks;
}

std::vector<BackgroundWork::Task> CheckpointWriter::listSyncs() {
  std::vector<BackgroundWork::Task> tasks;
  for (const auto &file : files)
    tasks.emplace_back([&file = *file] { file.sync(); });
  return tasks;
}

void CheckpointWriter::nameFiles() {
  for (const auto &file : files)
    file->finish();
  executor.barrier("writing a checkpoint");
}

std::vector<BackgroundWork::Task> CheckpointWriter::listMeasurements() {
  std::vector<BackgroundWork::Task> tasks;
  measured.assign(manifest.files.size(), {});
  for (size_t index : listMeasured(executor, manifest.files.size()))
    tasks.emplace_back(
        [this, index] { measured[index] = measureFile(partial, manifest.files[index]); });
  return tasks;
}

std::vector<BackgroundWork::Task> CheckpointWriter::listCommit() {
  if (!executor.isFirst())
    return {};
  return {[this] { asFault([&] { commit(); }); }};
}

void CheckpointWriter::commit() {
  for (size_t i = 0; i < measured.size(); ++i) {
    Manifest::File &file = manifest.files[i];
    if (measured[i].error != noReadError)
      throw Fault(
          fmt::format("cannot read '{}/{}': {}", partial, file.name, describe(measured[i].error)));
    file.bytes = measured[i].bytes;
    file.crc = measured[i].crc;
  }
  beforeCommit();
  writeShardIndex(partial, "model", model);
  writeManifest(partial, manifest);
  publish(runDirectory, partial, manifest.step, retention);
}

} // namespace titan::rt
