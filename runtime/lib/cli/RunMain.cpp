// The main function of emitted programs (Main.h): settings, the program that a command needs, and
// the report of errors on one or all ranks.
#include "CommandLine.h"
#include "PrepareData.h"
#include "RunRecord.h"

#include "Main.h"
#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "base/layout/Topology.h"
#include "base/text/Counted.h"
#include "comm/Comm.h"
#include "metrics/Metrics.h"
#include "settings/Degrees.h"

#include "apply/Apply.h"
#include "attention/AttentionRequest.h"
#include "checkpoint/AdapterExport.h"
#include "checkpoint/DistributedExport.h"
#include "checkpoint/Export.h"
#include "gemm/Request.h"
#include "generation/Generate.h"
#include "generation/TextModel.h"
#include "launch/CrashReport.h"
#include "launch/LoadedCode.h"
#include "launch/Orphans.h"
#include "loop/Evaluation.h"
#include "loop/StopSignal.h"
#include "loop/TrainStep.h"
#include "loop/Trainer.h"
#include "settings/SettingText.h"
#include "settings/Settings.h"
#include "state/Executor.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <map>
#include <omp.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

/// The settings of the command line, from `--set` and from other options.
std::vector<SettingText> collectSettings(const Options &options) {
  std::vector<SettingText> texts;
  for (const std::string &pair : options.sets)
    texts.push_back(readPair(pair, "--set"));
  if (options.steps)
    texts.push_back(readPair("steps=" + std::to_string(*options.steps), "--steps"));
  if (options.seed)
    texts.push_back(readPair("seed=" + std::to_string(*options.seed), "--seed"));
  if (!options.data.empty())
    texts.push_back(readPair(std::string(options.command == Command::Eval ? "eval." : "") +
                                 "data.path=\"" + options.data + "\"",
                             "--data"));
  if (!options.evalData.empty())
    texts.push_back(readPair(fmt::format("eval.data.path=\"{}\"", fmt::join(options.evalData, " ")),
                             "--eval-data"));
  return texts;
}

/// Applies the configuration file and then the command line to the settings.
void applySettings(Settings &settings, const Options &options) {
  if (!options.configFile.empty())
    for (const SettingText &text : readConfig(options.configFile))
      settings.set(text);
  std::map<std::string, std::string> seen; // paths, with the option that sets them
  for (const SettingText &text : collectSettings(options)) {
    auto [first, isNew] = seen.emplace(text.path, text.pathLocation.name);
    if (!isNew)
      refuse(text.pathLocation, "`" + text.path + "` is set twice [T0504]",
             "the first is by " + first->second);
    settings.set(text);
  }
  if (options.epochs != 0 && seen.contains("steps"))
    throw UsageError("--epochs and `steps` both say how long the run is: pass one of them");
  settings.check();
  if (options.command == Command::Train && !options.evalData.empty() &&
      settings.integer("eval.every", 0) == 0)
    throw UsageError("--eval-data has no effect on a run that never evaluates: pass --set "
                     "eval.every=STEPS, too");
}

/// The entry points of a command.
std::vector<std::string> selectFunctions(const Options &options, const Program &program) {
  auto isDecode = [](const std::string &name) { return name == "decode"; };
  const bool hasCaches =
      !options.noKvCache && (std::ranges::any_of(program.functions, isDecode, &Function::name) ||
                             std::ranges::any_of(program.pipelines, isDecode, &Pipeline::program));
  switch (options.command) {
  case Command::Train: {
    std::vector<std::string> functions = trainFunctions(program);
    functions.emplace_back("eval");
    return functions;
  }
  case Command::Eval:
    return {"eval"};
  case Command::Generate:
    if (!hasCaches)
      return {"logits"};
    if (options.prompts.empty())
      return {"prefill", "decode"};
    return {"prefill", "decode", "decode_batch", "admit"};
  case Command::Apply:
    return {"logits"};
  case Command::Export:
    return {"merge"};
  }
  return {};
}

/// Whether the command uses the tensor.
bool uses(const Options &options, const Tensor &tensor) {
  if (tensor.role == Role::State)
    return options.command == Command::Train;
  if (!isOfGeneration(tensor))
    return true;
  return options.command == Command::Generate && !options.noKvCache &&
         (!isOfSlots(tensor) || !options.prompts.empty());
}

/// The program without the functions and tensors that the command does not use: they would take
/// memory.
Program selectProgram(const Options &options, const std::vector<int64_t> &degrees) {
  Program whole = program(degrees.data());
  std::vector<std::string> needed = selectFunctions(options, whole);
  for (const Pipeline &pipeline : whole.pipelines)
    if (std::find(needed.begin(), needed.end(), pipeline.program) != needed.end())
      for (const Fragment &fragment : pipeline.fragments)
        needed.push_back(fragment.function);
  std::erase_if(whole.functions, [&](const Function &function) {
    return std::find(needed.begin(), needed.end(), function.name) == needed.end();
  });
  for (const Tensor &tensor : whole.tensors)
    if (!uses(options, tensor))
      whole.persistent[static_cast<size_t>(tensor.allocation)].isUsed = false;
  std::erase_if(whole.tensors, [&](const Tensor &tensor) { return !uses(options, tensor); });
  return whole;
}

/// The nodes that the launcher reports, and the axes of the mesh that cross them.
std::string describeNodes(const Mesh &mesh, const LaunchInfo &launch) {
  if (launch.localWorldSize == launch.worldSize)
    return "";
  std::vector<int64_t> degrees;
  for (const MeshAxis &axis : mesh.axes())
    degrees.push_back(axis.degree);
  const std::vector<bool> across = findAxesAcrossNodes(degrees, launch.localWorldSize);
  std::string names;
  for (size_t i = 0; i < across.size(); ++i)
    if (across[i])
      names += (names.empty() ? "" : ", ") + mesh.axes()[i].name;
  return fmt::format("nodes of {} ranks, crossed by {}\n", launch.localWorldSize,
                     names.empty() ? "no axis" : names);
}

/// Prints the sizes, the memory and the settings of a run, for --dry-run.
void describePlan(Executor &executor, const LaunchInfo &launch, const Settings &settings) {
  const Program &program = executor.program();
  const Arena &arena = executor.arena();
  std::printf("%s", fmt::format("{}: {} parameters in {}, on {} ({})\n"
                                "{}each step: {} x {} tokens\n"
                                "memory of this rank: {} from step to step, {} in all{}\n\n{}",
                                program.name, program.parameters, getName(program.dtype),
                                counted(executor.world().size(), "rank"),
                                executor.mesh().describe(), describeNodes(executor.mesh(), launch),
                                program.samples, program.positions,
                                formatBytes(arena.persistentBytes()), formatBytes(arena.bytes()),
                                arena.hostBytes()
                                    ? ", and " + formatBytes(arena.hostBytes()) + " on the host"
                                    : std::string(),
                                settings.toToml())
                        .c_str());
}

/// Writes the message to the file that torchrun names: it shows the content and passes it to
/// schedulers.
void writeErrorFile(const std::string &message) {
  const char *path = std::getenv("TORCHELASTIC_ERROR_FILE");
  if (!path)
    return;
  nlohmann::json json = {
      {"message",
       {{"message", message}, {"extraInfo", {{"timestamp", std::to_string(std::time(nullptr))}}}}}};
  try {
    writeFileAtomically(path, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                        Sync::No);
  } catch (const std::exception &) { // the message has been printed
  }
}

/// Reports the error and ends the process without destructors, because transports would wait for
/// vanished peers.
[[noreturn]] void exitWithError(const LaunchInfo &launch, bool onAllRanks, int status,
                                const std::string &message, const std::string &prefix = "error",
                                const std::string &excerpt = "") {
  // Errors that all ranks find are reported once.
  if (launch.rank == 0 || !onAllRanks) {
    std::string who = launch.worldSize > 1 && !onAllRanks && message.rfind("rank ", 0) != 0
                          ? fmt::format("rank {}: ", launch.rank)
                          : "";
    std::fprintf(stderr, "%s: %s%s%s\n", prefix.c_str(), who.c_str(), message.c_str(),
                 excerpt.c_str());
  }
  writeErrorFile(message);
  std::fflush(nullptr);
  _exit(status);
}

/// Runs `body`; an exception ends the process with its exit status. `onAllRanks`: every rank finds
/// the same error.
template <typename Body> int exitOnError(const LaunchInfo &launch, bool onAllRanks, Body body) {
  try {
    return body();
  } catch (const UsageError &error) {
    exitWithError(launch, true, ExitUsage, error.what() + std::string("\nsee --help"));
  } catch (const SourceError &error) {
    exitWithError(launch, onAllRanks, ExitUserError, error.what(), error.location + ": error",
                  error.excerpt);
  } catch (const UserError &error) {
    exitWithError(launch, onAllRanks || error.isOnAllRanks, ExitUserError, error.what());
  } catch (const NotFinite &error) {
    exitWithError(launch, true, ExitNotFinite, error.what());
  } catch (const std::exception &error) {
    exitWithError(launch, false, ExitFault, error.what());
  }
}

/// This rank's fair share of its machine's cores. Collective.
int computeCoreShare(World &world) {
  static_assert(sizeof(CoreSet) % sizeof(int64_t) == 0);
  CoreSet own = ownCores();
  std::vector<CoreSet> all(static_cast<size_t>(world.size()));
  world.worldGroup().allGather(&own, all.data(), sizeof(CoreSet) / sizeof(int64_t), DType::I64,
                               {"comparing cores", ""});
  return fairShare(all, world.rank());
}

/// Stop signals end other commands at once; a training run saves a checkpoint first.
void installSignalHandlers(const Options &options, const LaunchInfo &launch) {
  std::signal(SIGXFSZ, SIG_IGN); // the writer reports which file is too large
  if (options.command != Command::Train || options.dryRun)
    return unblockStopSignals();
  catchStopSignals();
  if (endsWithLauncher(launch))
    stopWithParent();
}

/// The local preparation of a rank before communication.
struct Preparation {
  Options options;
  std::vector<int64_t> degrees;
  Program program;
  std::optional<Settings> settings;
  CommOptions comm;
  RankRecord record;
  std::exception_ptr mistake; ///< prevents the start
};

/// Reads the command line and settings, and prepares data. Empty if only help was requested.
std::optional<Preparation> prepare(int argc, char **argv, const LaunchInfo &launch) {
  Preparation preparation;
  std::string name = argc > 0 ? argv[0] : "program";
  try {
    checkRequests();
    (void)isFlashAttentionWanted(); // refuses unknown words
    preparation.comm = CommOptions::ofEnvironment();
    auto options = parseCommandLine(argc, argv, name.substr(name.find_last_of('/') + 1));
    if (!options)
      return std::nullopt;
    preparation.options = std::move(*options);
    installSignalHandlers(preparation.options, launch);
    preparation.degrees =
        resolveDegrees(programMesh(), launch.worldSize, preparation.options.executable);
    preparation.program = program(preparation.degrees.data());
    Executor::checkDivisibility(preparation.program, preparation.degrees);
    preparation.settings.emplace(preparation.program);
    applySettings(*preparation.settings, preparation.options);
    prepareData(preparation.program, preparation.options, launch.localRank == 0,
                *preparation.settings);
    if (launch.worldSize > 1)
      preparation.record =
          makeRecord(preparation.program, *preparation.settings, preparation.options);
  } catch (const UsageError &error) {
    preparation.mistake = std::current_exception();
    preparation.record.mistake = error.what();
  } catch (const UserError &error) {
    preparation.mistake = std::current_exception();
    preparation.record.mistake = error.what();
  }
  return preparation;
}

/// Errors that all ranks share are reported once. Otherwise this rank reports its error, and the
/// others learn of it instead of waiting.
[[noreturn]] void exitWithMistake(const LaunchInfo &launch, Preparation &preparation) {
  unblockStopSignals();
  constexpr std::chrono::seconds patience(3);
  bool onAllRanks = launch.worldSize == 1;
  if (!onAllRanks) {
    preparation.comm.connectTimeout = std::min(preparation.comm.connectTimeout, patience);
    try {
      auto world = World::connect(launch, preparation.comm, preparation.record);
      onAllRanks = true;
      exitOnError(launch, onAllRanks,
                  [&]() -> int { std::rethrow_exception(preparation.mistake); });
    } catch (const std::exception &) { // other ranks have no such error, or do not connect
    }
  }
  exitOnError(launch, onAllRanks, [&]() -> int { std::rethrow_exception(preparation.mistake); });
  _exit(ExitFault); // unreachable
}

/// The run after the ranks are connected.
int runCommand(Preparation &preparation, World &world) {
  const LaunchInfo &launch = world.launch();
  const Options &options = preparation.options;
  int share = computeCoreShare(world);
  world.runCollectively([&] { omp_set_num_threads(chooseThreadCount(launch, share)); });
  // Built again with the chosen number of threads: scratch has one block per thread.
  Program needed = selectProgram(options, preparation.degrees);
  releaseLoadedCode(); // after start-up, before the arena exists
  Executor executor(std::move(needed), std::move(preparation.degrees), world, makeDevice(launch));
  reportCrashes(launch.rank, executor.running());
  if (options.dryRun && executor.isFirst())
    describePlan(executor, launch, *preparation.settings);
  flushOutput();
  switch (options.command) {
  case Command::Train:
    return train(executor, options, *preparation.settings);
  case Command::Eval:
    return evaluate(executor, options, *preparation.settings);
  case Command::Generate:
    return generate(executor, options, *preparation.settings);
  case Command::Apply:
    return apply(executor, options, *preparation.settings);
  case Command::Export:
    return !options.adapterDirectory.empty()
               ? exportAdapters(executor, options, *preparation.settings)
           : !options.distributedDirectory.empty()
               ? exportDistributed(executor, options, *preparation.settings)
               : exportWeights(executor, options, *preparation.settings);
  }
  return ExitFault;
}

/// Runs the command; a failure of this rank is announced to the others, with the root cause.
int runAmongRanks(Preparation &preparation, World &world) {
  try {
    return runCommand(preparation, world);
  } catch (const Fault &fault) {
    throw Fault(world.withRootCause(fault.what(), fault.peer));
  } catch (const UserError &error) {
    if (!error.isOnAllRanks)
      world.withRootCause(error.what(), {});
    throw;
  }
}

} // namespace

int runMain(int argc, char **argv) {
  LaunchInfo launch;
  return exitOnError(launch, true, [&]() -> int {
    launch = detectLaunch();
    std::optional<Preparation> preparation = prepare(argc, argv, launch);
    if (!preparation)
      return ExitSuccess;
    if (preparation->mistake)
      exitWithMistake(launch, *preparation);
    return exitOnError(launch, false, [&]() -> int {
      std::unique_ptr<World> world = World::connect(launch, preparation->comm, preparation->record);
      // Nested, so that the world still exists when a fault ends the process: its destructor would
      // wait for peers.
      return exitOnError(launch, false, [&] { return runAmongRanks(*preparation, *world); });
    });
  });
}

} // namespace titan::rt
