#include "Checkpoint.h"

#include "Verify.h"
#include "rundir/EarlierRun.h"
#include "rundir/SetAside.h"
#include "state/TensorFiles.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "files/ReadFile.h"

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

using Content = Manifest::Content;

constexpr int64_t shardBytes = int64_t{2} << 30;

/// Who wrote a checkpoint, where that is worth saying: another run than this one.
std::string writerOf(const Session &session, const Manifest &manifest) {
  bool isOwn = manifest.run.empty() || manifest.run == session.program().name;
  return isOwn ? "" : "run `" + manifest.run + "`";
}

/// Whether the tensors may fit and mean something else.
bool isOfAnotherModel(const Session &session, const Manifest &manifest) {
  const std::string &own = session.program().model;
  return !own.empty() && !manifest.model.empty() && own != manifest.model;
}

void refuseAnotherModel(const std::string &directory, const Manifest &manifest) {
  throw UserError(fmt::format(
      "{} was saved by another model than this program's, of run `{}`, though its tensors fit: "
      "pass "
      "another --out DIR; or go on from it all the same with --resume {}, take its weights alone "
      "with --init-from, or begin anew with --resume none",
      directory, manifest.run, directory));
}

/// `isAsked`: the user named this checkpoint.
void load(Session &session, const std::string &directory, const Manifest &manifest, bool isAsked) {
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
    if (isOfAnotherModel(session, manifest) && !isAsked)
      refuseAnotherModel(directory, manifest);
  });
  if (session.isFirst() && isOfAnotherModel(session, manifest))
    std::printf("note: the checkpoint was saved by another model than this program's\n");
  if (session.isFirst())
    std::printf("resuming after step %lld from %s%s\n", static_cast<long long>(manifest.step),
                directory.c_str(), writer.empty() ? "" : (", which " + writer + " wrote").c_str());
}

/// Whether the path is OUT/model.safetensors, or OUT that has one.
bool isWeightsOfRun(const std::string &path) {
  std::error_code ignored;
  const char *name = "model.safetensors";
  return fs::path(path).filename() == name || fs::exists(fs::path(path) / name, ignored);
}

/// The run's checkpoints as rank 0 sees them: all ranks must try the same ones.
std::vector<std::string> candidates(Session &session, const std::string &runDirectory) {
  std::vector<int64_t> steps;
  session.world().together([&] {
    if (session.isFirst())
      steps = listSteps(runDirectory);
  });
  steps.resize(static_cast<size_t>(session.fromFirst(static_cast<int64_t>(steps.size()))));
  std::vector<std::string> directories;
  for (int64_t step : steps)
    directories.push_back(checkpointOfStep(runDirectory, session.fromFirst(step)));
  return directories;
}

/// The checkpoint takes its name, which is durable before anything else is moved or removed.
void publish(const std::string &runDirectory, const std::string &partial, int64_t step,
             int64_t keep) {
  const std::string target = checkpointOfStep(runDirectory, step);
  const fs::path checkpoints = fs::path(target).parent_path();
  syncDirectory(partial);
  if (fs::exists(fs::symlink_status(target)))
    setAsideCheckpoint(runDirectory, step, "which is saved again");
  fs::rename(partial, target);
  syncDirectory(checkpoints);
  setAsideLaterThan(runDirectory, step);
  removeAllBut(runDirectory, keep);
}

} // namespace

void saveCheckpoint(Session &session, const std::string &runDirectory, Manifest position,
                    int64_t keep) {
  const std::string partial = checkpointOfStep(runDirectory, position.step) + temporarySuffix;
  if (session.isFirst())
    orFault([&] {
      createDirectories(fs::path(partial).parent_path());
      removeUnfinishedCheckpoints(runDirectory);
      if (!fs::create_directory(partial))
        throw UserError("cannot write '" + partial + "': it is there and cannot be removed");
    });
  session.barrier("creating a checkpoint");
  constexpr Role parameters[] = {Role::Parameter}, state[] = {Role::State};
  std::vector<Shard> model = saveShards(session, partial, "model", parameters, shardBytes);
  for (const Shard &shard : model)
    position.files.push_back({shard.file, Content::Parameters});
  for (const Shard &shard : saveShards(session, partial, "optimizer", state, shardBytes))
    position.files.push_back({shard.file, Content::Optimizer});
  std::vector<Measured> measured = measureFiles(session, partial, position.files);
  if (session.isFirst())
    orFault([&] {
      for (size_t i = 0; i < measured.size(); ++i) {
        if (measured[i].error != noReadError)
          throw Fault(fmt::format("cannot read '{}/{}': {}", partial, position.files[i].name,
                                  describe(measured[i].error)));
        position.files[i].bytes = measured[i].bytes;
        position.files[i].crc = measured[i].crc;
      }
      writeShardIndex(partial, "model", model);
      writeManifest(partial, position);
      publish(runDirectory, partial, position.step, keep);
    });
  session.barrier("finishing a checkpoint");
}

void loadWeights(Session &session, const std::string &path) {
  std::optional<WeightStore> store;
  std::vector<Manifest::File> files;
  std::string directory;
  session.world().together([&] {
    directory = store.emplace(path).directory();
    if (isCheckpoint(directory))
      files = readManifest(directory).files;
    else if (isWeightsOfRun(path))
      if (auto weights = readWeightsOfStatus((fs::path(directory) / "status.json").string()))
        files = {{"model.safetensors", Content::Parameters, weights->bytes, weights->crc}};
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
  if (directories.empty())
    session.world().together([&] {
      if (std::string lost = session.isFirst() ? lostCheckpoints(runDirectory) : ""; !lost.empty())
        throw UserError(lost);
    });
  for (size_t i = 0; i < directories.size(); ++i) {
    std::string problem;
    Manifest manifest = examine(session, directories[i], problem);
    if (any && problem.empty() && !manifest.isFinite)
      problem = directories[i] + " is of a step whose loss or gradient is not finite (--resume " +
                directories[i] + " goes on from it all the same)";
    if (problem.empty()) {
      load(session, directories[i], manifest, /*isAsked=*/!any);
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
