#include "Checkpoint.h"

#include "Verify.h"
#include "rundir/Archive.h"
#include "rundir/PreviousRun.h"
#include "state/FindNonFinite.h"
#include "state/TensorFiles.h"
#include "state/WeightFiles.h"
#include "weights/TokenizerFiles.h"

#include "base/Error.h"
#include "base/text/Counted.h"
#include "files/ReadFile.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

using Content = Manifest::Content;

/// "run `NAME`" if another run wrote the checkpoint, else empty.
std::string describeWriter(const Executor &executor, const Manifest &manifest) {
  bool isOwn = manifest.run.empty() || manifest.run == executor.program().name;
  return isOwn ? "" : "run `" + manifest.run + "`";
}

/// Whether a different model saved the checkpoint: tensors that fit may then have another meaning.
bool isOfAnotherModel(const Executor &executor, const Manifest &manifest) {
  const std::string &own = executor.program().model;
  return !own.empty() && !manifest.model.empty() && own != manifest.model;
}

void refuseAnotherModel(const std::string &directory, const Manifest &manifest) {
  throw UserError(
      fmt::format("{} was saved by a different model, of run `{}`, although its tensors fit: pass "
                  "another --out DIR; or resume anyway with --resume {}, load only its weights "
                  "with --init-from, or start over with --resume none",
                  directory, manifest.run, directory));
}

/// Loads the checkpoint's parameters and optimizer state. `isNamedByUser`: the user chose this
/// checkpoint, also if it is of a different model.
void load(Executor &executor, const std::string &directory, const Manifest &manifest,
          bool isNamedByUser) {
  constexpr Role parameters[] = {Role::Parameter}, state[] = {Role::State};
  std::string writer = describeWriter(executor, manifest);
  executor.world().runCollectively([&] {
    try {
      loadTensors(executor, {directory, manifest.paths(directory, Content::Parameters)},
                  parameters);
      loadTensors(executor, {directory, manifest.paths(directory, Content::Optimizer)}, state);
    } catch (const UserError &error) {
      throw UserError(fmt::format("{}; {} wrote this checkpoint: pass another --out DIR, or start "
                                  "over with --resume none",
                                  error.what(), writer.empty() ? "another program" : writer));
    }
    if (isOfAnotherModel(executor, manifest) && !isNamedByUser)
      refuseAnotherModel(directory, manifest);
  });
  if (executor.isFirst() && isOfAnotherModel(executor, manifest))
    std::printf("note: the checkpoint was saved by a different model\n");
  if (executor.isFirst())
    std::printf("resuming after step %lld from %s%s\n", static_cast<long long>(manifest.step),
                directory.c_str(), writer.empty() ? "" : (", which " + writer + " wrote").c_str());
}

/// Whether the path is OUT/model.safetensors, or an OUT that contains it.
bool isWeightsOfRun(const std::string &path) {
  std::error_code ignored;
  const char *name = "model.safetensors";
  return fs::path(path).filename() == name || fs::exists(fs::path(path) / name, ignored);
}

/// The directories of the run's checkpoints, latest first, as rank 0 sees them: all ranks then try
/// the same ones.
std::vector<std::string> broadcastCheckpoints(Executor &executor, const std::string &runDirectory) {
  std::vector<int64_t> steps;
  executor.world().runCollectively([&] {
    if (executor.isFirst())
      steps = listSteps(runDirectory);
  });
  steps.resize(
      static_cast<size_t>(executor.broadcastFromFirst(static_cast<int64_t>(steps.size()))));
  std::vector<std::string> directories;
  for (int64_t step : steps)
    directories.push_back(getCheckpointPath(runDirectory, executor.broadcastFromFirst(step)));
  return directories;
}

} // namespace

/// Whether some elements of parameters may keep their initial values.
static bool needsInitialValues(const Program &program) {
  return !program.weights.merged.empty() ||
         std::any_of(program.tensors.begin(), program.tensors.end(),
                     [](const Tensor &tensor) { return tensor.initFrom != InitFrom::Required; });
}

namespace {

/// The files of one source of weights.
struct OpenSource {
  std::string directory;
  std::vector<Manifest::File> files; ///< with a checksum
  std::optional<int64_t> step;       ///< of a checkpoint
};

OpenSource describeSource(const WeightStore &store) {
  OpenSource source{store.directory(), {}, {}};
  if (isCheckpoint(source.directory)) {
    const Manifest manifest = readManifest(source.directory);
    source.files = manifest.files;
    source.step = manifest.step;
  } else if (isWeightsOfRun(store.path()))
    if (auto weights = readWeightsOfStatus((fs::path(source.directory) / "status.json").string()))
      source.files = {{"model.safetensors", Content::Parameters, weights->bytes, weights->crc}};
  std::erase_if(source.files,
                [](const Manifest::File &file) { return file.content != Content::Parameters; });
  return source;
}

} // namespace

LoadedWeights loadWeights(Executor &executor, const std::vector<WeightSource> &sources,
                          uint64_t seed) {
  std::vector<WeightStore> stores;
  std::vector<OpenSource> opened;
  LoadedWeights loaded{{}, sources, {}, {}};
  executor.world().runCollectively([&] {
    requireSources(sources);
    for (const WeightSource &source : sources) {
      opened.push_back(describeSource(stores.emplace_back(source.path)));
      if (!loaded.step && source.prefix.empty())
        loaded.step = opened.back().step;
    }
  });
  std::string problem;
  for (const OpenSource &source : opened)
    if (problem.empty() && !source.files.empty())
      problem = findDamage(executor, source.directory, source.files);
  if (needsInitialValues(executor.program()))
    initializeParameters(executor, seed);
  executor.world().runCollectively([&] {
    if (!problem.empty())
      throw UserError(problem);
    ReadWeights read = loadStartingWeights(executor, sources, stores);
    loaded.rows = std::move(read.rows);
    loaded.types = std::move(read.types);
  });
  return loaded;
}

void printSummary(Executor &executor, const LoadedWeights &loaded) {
  if (executor.isFirst())
    for (const std::string &note : summarise(loaded.rows, loaded.sources))
      std::fprintf(stderr, "%s\n", note.c_str());
  if (const std::string bad = findNonFinite(executor); executor.isFirst() && !bad.empty())
    std::fprintf(stderr,
                 "warning: '%s' holds numbers that are not finite, and neither is what is computed "
                 "from them: start from other weights, such as an earlier checkpoint\n",
                 bad.c_str());
}

LoadedWeights loadTrainedWeights(Executor &executor, const Options &options,
                                 const Settings &settings) {
  LoadedWeights loaded =
      loadWeights(executor, options.initFrom, static_cast<uint64_t>(settings.integer("seed", 0)));
  printSummary(executor, loaded);
  executor.writeScalar("step",
                       static_cast<double>(loaded.step.value_or(settings.integer("steps", 100))));
  return loaded;
}

std::optional<Manifest> resumeFrom(Executor &executor, const std::string &runDirectory,
                                   const std::string &choice) {
  if (choice == "none")
    return std::nullopt;
  bool isAuto = choice == "auto";
  std::vector<std::string> directories = {choice};
  if (isAuto)
    directories = broadcastCheckpoints(executor, runDirectory);
  if (directories.empty())
    executor.world().runCollectively([&] {
      if (std::string lost = executor.isFirst() ? describeLostCheckpoints(runDirectory) : "";
          !lost.empty())
        throw UserError(lost);
    });
  for (size_t i = 0; i < directories.size(); ++i) {
    std::string problem;
    Manifest manifest = verifyCheckpoint(executor, directories[i], problem);
    if (isAuto && problem.empty() && !manifest.isFinite)
      problem = directories[i] + " is of a step whose loss or gradient is not finite (--resume " +
                directories[i] + " resumes from it anyway)";
    if (problem.empty()) {
      load(executor, directories[i], manifest, /*isNamedByUser=*/!isAuto);
      return manifest;
    }
    if (i + 1 == directories.size())
      executor.world().runCollectively([&] {
        throw UserError(problem + (isAuto ? "; no checkpoint of '" + runDirectory +
                                                "' can be used: start over with --resume none"
                                          : ""));
      });
    if (executor.isFirst())
      std::fprintf(stderr, "warning: %s; trying the previous checkpoint\n", problem.c_str());
  }
  return std::nullopt;
}

} // namespace titan::rt
