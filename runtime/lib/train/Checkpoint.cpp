#include "Checkpoint.h"

#include "TensorFiles.h"

#include "titan/runtime/error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

using Content = Manifest::Content;

constexpr int64_t shardBytes = int64_t{2} << 30;
constexpr const char *unfinished = ".partial";

/// Makes new names in a directory outlast a loss of power.
void syncDirectory(const fs::path &directory) {
  int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool failed = file < 0 || ::fsync(file) != 0;
  if (file >= 0)
    ::close(file);
  if (failed)
    throw Fault("cannot write '" + directory.string() + "': " + std::strerror(errno));
}

/// What a run that was killed while saving has left.
void removeUnfinished(const fs::path &checkpoints) {
  for (const auto &entry : fs::directory_iterator(checkpoints))
    if (entry.path().extension() == unfinished)
      fs::remove_all(entry.path());
}

/// The name goes first, so that no half of a checkpoint has one.
void removeCheckpoint(const fs::path &directory) {
  fs::path doomed = directory.string() + ".removed" + unfinished;
  fs::rename(directory, doomed);
  fs::remove_all(doomed);
}

/// What a run has left that was given up: the next to go on here would take it for its own.
void removeLaterThan(const std::string &runDirectory, const fs::path &saved) {
  for (const std::string &directory : listCheckpoints(runDirectory)) { // newest first
    if (fs::path(directory) == saved)
      return;
    std::printf("removing %s, which comes after %s\n", directory.c_str(), saved.filename().c_str());
    removeCheckpoint(directory);
  }
}

/// Sizes and checksums of all files; each rank reads its share of them.
std::vector<Manifest::File> measure(Session &session, const std::string &directory,
                                    std::vector<Manifest::File> files) {
  std::vector<int64_t> found(2 * files.size());
  size_t ranks = static_cast<size_t>(session.world().size());
  for (size_t i = static_cast<size_t>(session.world().rank()); i < files.size(); i += ranks) {
    std::error_code absent;
    if (!fs::exists(fs::path(directory) / files[i].name, absent))
      continue; // then its size is 0, which no file has
    Manifest::File file = measureFile(directory, files[i]);
    found[2 * i] = file.bytes;
    found[2 * i + 1] = file.crc;
  }
  session.world().everyone().allReduce(found.data(), static_cast<int64_t>(found.size()), DType::I64,
                                       Reduction::Sum, {"comparing checksums", ""});
  for (size_t i = 0; i < files.size(); ++i) {
    files[i].bytes = found[2 * i];
    files[i].crc = static_cast<uint32_t>(found[2 * i + 1]);
  }
  return files;
}

/// What is wrong with files of a checkpoint; empty if they are as they were written.
std::string damageOf(Session &session, const std::string &directory,
                     const std::vector<Manifest::File> &files) {
  std::vector<Manifest::File> now = measure(session, directory, files);
  for (size_t i = 0; i < now.size(); ++i) {
    const Manifest::File &then = files[i];
    std::string path = (fs::path(directory) / then.name).string();
    if (now[i].bytes != then.bytes)
      return fmt::format("{} has {} bytes, {} were written", path, now[i].bytes, then.bytes);
    if (now[i].crc != then.crc)
      return fmt::format("{} is damaged: its checksum is {:08x}, {:08x} was written", path,
                         now[i].crc, then.crc);
  }
  return "";
}

/// Reads and checks the manifest; `problem` says why it cannot be used.
Manifest examine(Session &session, const std::string &directory, std::string &problem) {
  Manifest manifest;
  try {
    manifest = readManifest(directory);
  } catch (const UserError &error) {
    problem = error.what();
  }
  // All ranks see the same directory; if one does not, none goes on.
  if (!session.anyRank(!problem.empty()))
    problem = damageOf(session, directory, manifest.files);
  else if (problem.empty())
    problem = "another rank cannot read " + directory;
  return manifest;
}

/// Who wrote a checkpoint, where that is worth saying: another run than this one.
std::string writerOf(const Session &session, const Manifest &manifest) {
  bool isOwn = manifest.run.empty() || manifest.run == session.program().name;
  return isOwn ? "" : "run `" + manifest.run + "`";
}

void load(Session &session, const std::string &directory, const Manifest &manifest) {
  constexpr Role parameters[] = {Role::Parameter}, state[] = {Role::State};
  std::string writer = writerOf(session, manifest);
  session.world().together([&] {
    try {
      loadTensors(session, {directory, manifest.paths(directory, Content::Parameters)}, parameters);
      loadTensors(session, {directory, manifest.paths(directory, Content::Optimizer)}, state);
    } catch (const UserError &error) {
      throw UserError(fmt::format("{}; {} wrote this checkpoint: pass another --out DIR, or begin "
                                  "anew with --resume none",
                                  error.what(), writer.empty() ? "another program" : writer));
    }
  });
  if (session.isFirst())
    std::printf("resuming after step %lld from %s%s\n", static_cast<long long>(manifest.step),
                directory.c_str(), writer.empty() ? "" : (", which " + writer + " wrote").c_str());
}

/// The run's checkpoints as rank 0 sees them: all ranks must try the same ones.
std::vector<std::string> candidates(Session &session, const std::string &runDirectory) {
  std::vector<std::string> all = listCheckpoints(runDirectory);
  all.resize(static_cast<size_t>(session.fromFirst(static_cast<int64_t>(all.size()))));
  return all;
}

} // namespace

void saveCheckpoint(Session &session, const std::string &runDirectory, Manifest position,
                    int64_t keep) {
  fs::path checkpoints = fs::path(runDirectory) / "checkpoints";
  fs::path target = checkpoints / fmt::format("step-{}", position.step);
  std::string partial = target.string() + unfinished;
  if (session.isFirst()) {
    fs::create_directories(checkpoints);
    removeUnfinished(checkpoints);
    fs::create_directory(partial);
  }
  session.barrier("creating a checkpoint");
  constexpr Role parameters[] = {Role::Parameter}, state[] = {Role::State};
  std::vector<Shard> model = saveShards(session, partial, "model", parameters, shardBytes);
  for (const Shard &shard : model)
    position.files.push_back({shard.file, Content::Parameters});
  for (const Shard &shard : saveShards(session, partial, "optimizer", state, shardBytes))
    position.files.push_back({shard.file, Content::Optimizer});
  position.files = measure(session, partial, std::move(position.files));
  if (session.isFirst()) {
    writeShardIndex(partial, "model", model);
    writeManifest(partial, position);
    syncDirectory(partial);
    if (fs::exists(target)) // damaged, or it would have been resumed from
      removeCheckpoint(target);
    fs::rename(partial, target);
    syncDirectory(checkpoints);
    removeLaterThan(runDirectory, target);
    for (const std::string &old : surplusCheckpoints(runDirectory, keep))
      removeCheckpoint(old);
  }
  session.barrier("finishing a checkpoint");
}

void removeUnfinishedCheckpoints(const std::string &runDirectory) {
  if (fs::path checkpoints = fs::path(runDirectory) / "checkpoints"; fs::is_directory(checkpoints))
    removeUnfinished(checkpoints);
}

std::string setAside(const std::string &runDirectory) {
  const fs::path run(runDirectory), aside = run / "replaced";
  std::error_code ignored;
  std::vector<const char *> left;
  for (const char *name : {"checkpoints", "model.safetensors"})
    if (fs::exists(run / name, ignored))
      left.push_back(name);
  if (left.empty())
    return "";
  fs::remove_all(aside);
  fs::create_directory(aside);
  for (const char *name : left)
    fs::rename(run / name, aside / name);
  return aside.string();
}

void loadWeights(Session &session, const std::string &path) {
  std::optional<WeightStore> store;
  std::vector<Manifest::File> files;
  std::string directory;
  session.world().together([&] {
    directory = store.emplace(path).directory();
    if (isCheckpoint(directory))
      files = readManifest(directory).files;
  });
  std::erase_if(files,
                [](const Manifest::File &file) { return file.content != Content::Parameters; });
  const std::string problem = files.empty() ? "" : damageOf(session, directory, files);
  constexpr Role parameters[] = {Role::Parameter};
  session.world().together([&] {
    if (!problem.empty())
      throw UserError(problem);
    loadTensors(session, *store, parameters);
  });
}

std::optional<Manifest> resumeFrom(Session &session, const std::string &runDirectory,
                                   const std::string &choice) {
  if (choice == "none")
    return std::nullopt;
  bool any = choice == "auto";
  std::vector<std::string> directories = {choice};
  if (any)
    directories = candidates(session, runDirectory);
  for (size_t i = 0; i < directories.size(); ++i) {
    std::string problem;
    Manifest manifest = examine(session, directories[i], problem);
    if (any && problem.empty() && !manifest.isFinite)
      problem = directories[i] + " is of a step whose loss or gradient is not finite (--resume " +
                directories[i] + " goes on from it all the same)";
    if (problem.empty()) {
      load(session, directories[i], manifest);
      return manifest;
    }
    if (i + 1 == directories.size())
      session.world().together([&] {
        throw UserError(problem + (any ? "; no checkpoint of '" + runDirectory +
                                             "' can be used: begin anew with --resume none"
                                       : ""));
      });
    if (session.isFirst())
      std::fprintf(stderr, "warning: %s; trying the checkpoint before it\n", problem.c_str());
  }
  return std::nullopt;
}

} // namespace titan::rt
