#include "CommandLine.h"
#include "RunRecord.h"

#include "Main.h"
#include "base/Error.h"
#include "comm/Comm.h"
#include "metrics/Metrics.h"
#include "settings/Degrees.h"

#include "checkpoint/Export.h"
#include "gemm/Request.h"
#include "generation/Generate.h"
#include "launch/CrashReport.h"
#include "launch/LoadedCode.h"
#include "launch/Orphans.h"
#include "loop/Evaluation.h"
#include "loop/StopSignal.h"
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

/// What the command line sets, by `--set` and by options of their own.
std::vector<SettingText> settingsOf(const Options &options) {
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
  return texts;
}

void applySettings(Settings &settings, const Options &options) {
  if (!options.configFile.empty())
    for (const SettingText &text : readConfig(options.configFile))
      settings.set(text);
  std::map<std::string, std::string> seen; // paths, and by what they are set
  for (const SettingText &text : settingsOf(options)) {
    auto [first, isNew] = seen.emplace(text.path, text.pathLocation.name);
    if (!isNew)
      refuse(text.pathLocation, "`" + text.path + "` is set twice [T0504]",
             "the first is by " + first->second);
    settings.set(text);
  }
  settings.check();
}

/// The entry points that a command runs.
std::vector<std::string> functionsOf(Command command) {
  switch (command) {
  case Command::Train:
    return {"train", "eval"};
  case Command::Eval:
    return {"eval"};
  case Command::Generate:
    return {"logits"};
  case Command::Export:
    return {};
  }
  return {};
}

/// The program as far as a command needs it: what it does not run takes no memory.
Program programFor(Command command, const std::vector<int64_t> &degrees) {
  Program whole = program(degrees.data());
  std::vector<std::string> needed = functionsOf(command);
  std::erase_if(whole.functions, [&](const Function &function) {
    return std::find(needed.begin(), needed.end(), function.name) == needed.end();
  });
  return whole;
}

void describePlan(Executor &executor, const Settings &settings) {
  const Program &program = executor.program();
  const Arena &arena = executor.arena();
  std::printf("%s", fmt::format("{}: {} parameters in {}, on {} rank{} ({})\n"
                                "each step: {} x {} tokens\n"
                                "memory of this rank: {} from step to step, {} in all\n\n{}",
                                program.name, program.parameters, nameOf(program.dtype),
                                executor.world().size(), executor.world().size() == 1 ? "" : "s",
                                executor.mesh().describe(), program.batch, program.seq,
                                formatBytes(arena.persistentBytes()), formatBytes(arena.bytes()),
                                settings.toToml())
                        .c_str());
}

/// torchrun shows what a worker writes into this file, and passes it on to schedulers.
void writeErrorFile(const std::string &message) {
  const char *path = std::getenv("TORCHELASTIC_ERROR_FILE");
  if (!path)
    return;
  nlohmann::json json = {
      {"message",
       {{"message", message}, {"extraInfo", {{"timestamp", std::to_string(std::time(nullptr))}}}}}};
  if (std::FILE *file = std::fopen(path, "w")) {
    std::fputs(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str(), file);
    std::fclose(file);
  }
}

/// Says what went wrong and ends the process without running destructors: transports would wait
/// for peers that are gone.
[[noreturn]] void exitWithError(const LaunchInfo &launch, bool onAllRanks, int status,
                                const std::string &message, const std::string &prefix = "error",
                                const std::string &shown = "") {
  // What every rank finds out alike is said once.
  if (launch.rank == 0 || !onAllRanks) {
    std::string who = launch.worldSize > 1 && !onAllRanks && message.rfind("rank ", 0) != 0
                          ? fmt::format("rank {}: ", launch.rank)
                          : "";
    std::fprintf(stderr, "%s: %s%s%s\n", prefix.c_str(), who.c_str(), message.c_str(),
                 shown.c_str());
  }
  writeErrorFile(message);
  std::fflush(nullptr);
  _exit(status);
}

/// Runs `body`; what it throws ends the process with the status that fits. `alike`: every rank
/// finds out the same.
template <typename Body> int exitOnError(const LaunchInfo &launch, bool onAllRanks, Body body) {
  try {
    return body();
  } catch (const UsageError &error) {
    exitWithError(launch, true, ExitUsage, error.what() + std::string("\nsee --help"));
  } catch (const SourceError &error) {
    exitWithError(launch, onAllRanks, ExitUserError, error.what(), error.location + ": error",
                  error.excerpt);
  } catch (const UserError &error) {
    exitWithError(launch, onAllRanks || error.isShared, ExitUserError, error.what());
  } catch (const NotFinite &error) {
    exitWithError(launch, true, ExitNotFinite, error.what());
  } catch (const std::exception &error) {
    exitWithError(launch, false, ExitFault, error.what());
  }
}

/// This rank's fair share of its machine's cores, which takes knowing the others' place.
int shareOfCores(World &world) {
  static_assert(sizeof(CoreSet) % sizeof(int64_t) == 0);
  CoreSet own = ownCores();
  std::vector<CoreSet> all(static_cast<size_t>(world.size()));
  world.worldGroup().allGather(&own, all.data(), sizeof(CoreSet) / sizeof(int64_t), DType::I64,
                               {"comparing cores", ""});
  return fairShare(all, world.rank());
}

/// Only a run that trains has something to save when it is told to end.
void installSignalHandlers(const Options &options, const LaunchInfo &launch) {
  std::signal(SIGXFSZ, SIG_IGN); // who writes says which file is too large
  if (options.command != Command::Train || options.dryRun)
    return unblockStopSignals();
  catchStopSignals();
  if (endsWithLauncher(launch))
    stopWithParent();
}

/// What a rank finds out for itself before it meets the others.
struct Preparation {
  Options options;
  std::vector<int64_t> degrees;
  Program program;
  std::optional<Settings> settings;
  CommOptions comm;
  RankRecord record;
  std::exception_ptr mistake; ///< which keeps it from starting
};

/// Empty where nothing is to be done but help, which was given.
std::optional<Preparation> prepare(int argc, char **argv, const LaunchInfo &launch) {
  Preparation made;
  std::string name = argc > 0 ? argv[0] : "program";
  try {
    checkRequests();
    made.comm = CommOptions::ofEnvironment();
    auto options = parseCommandLine(argc, argv, name.substr(name.find_last_of('/') + 1));
    if (!options)
      return std::nullopt;
    made.options = std::move(*options);
    installSignalHandlers(made.options, launch);
    made.degrees = resolveDegrees(programMesh(), launch.worldSize, made.options.executable);
    made.program = program(made.degrees.data());
    Executor::checkDivisibility(made.program, made.degrees);
    made.settings.emplace(made.program);
    applySettings(*made.settings, made.options);
    if (launch.worldSize > 1)
      made.record = recordOf(made.program, *made.settings, made.options);
  } catch (const UsageError &error) {
    made.mistake = std::current_exception();
    made.record.mistake = error.what();
  } catch (const UserError &error) {
    made.mistake = std::current_exception();
    made.record.mistake = error.what();
  }
  return made;
}

/// A mistake that all ranks have made alike is said once. One of this rank alone it says itself,
/// and the others learn of it instead of waiting.
[[noreturn]] void exitWithMistake(const LaunchInfo &launch, Preparation &made) {
  unblockStopSignals();
  constexpr std::chrono::seconds patience(3);
  bool onAllRanks = launch.worldSize == 1;
  if (!onAllRanks) {
    made.comm.connectTimeout = std::min(made.comm.connectTimeout, patience);
    try {
      auto world = World::connect(launch, made.comm, made.record);
      onAllRanks = true;
      exitOnError(launch, onAllRanks, [&]() -> int { std::rethrow_exception(made.mistake); });
    } catch (const std::exception &) { // others have no such mistake, or do not come
    }
  }
  exitOnError(launch, onAllRanks, [&]() -> int { std::rethrow_exception(made.mistake); });
  _exit(ExitFault); // not reached
}

/// The part that begins once the ranks have met.
int runCommand(Preparation &made, World &world) {
  const LaunchInfo &launch = world.launch();
  const Options &options = made.options;
  int share = shareOfCores(world);
  world.runCollectively([&] { omp_set_num_threads(chooseThreadCount(launch, share)); });
  // Anew, since its working memory is a block for each thread.
  Program needed = programFor(options.command, made.degrees);
  releaseLoadedCode(); // when all that starts up has, and before there is an arena
  Executor executor(std::move(needed), std::move(made.degrees), world, makeDevice(launch));
  reportCrashes(launch.rank, executor.running());
  if (options.dryRun && executor.isFirst())
    describePlan(executor, *made.settings);
  flushOutput();
  switch (options.command) {
  case Command::Train:
    return train(executor, options, *made.settings);
  case Command::Eval:
    return evaluate(executor, options, *made.settings);
  case Command::Generate:
    return generate(executor, options, *made.settings);
  case Command::Export:
    return exportWeights(executor, options, *made.settings);
  }
  return ExitFault;
}

/// Runs the command; a failure that ends this rank is told to the others and says what was first.
int runAmongRanks(Preparation &made, World &world) {
  try {
    return runCommand(made, world);
  } catch (const Fault &fault) {
    throw Fault(world.withRootCause(fault.what(), fault.peer));
  } catch (const UserError &error) {
    if (!error.isShared)
      world.withRootCause(error.what(), {});
    throw;
  }
}

} // namespace

int runMain(int argc, char **argv) {
  LaunchInfo launch;
  return exitOnError(launch, true, [&]() -> int {
    launch = detectLaunch();
    std::optional<Preparation> made = prepare(argc, argv, launch);
    if (!made)
      return ExitSuccess;
    if (made->mistake)
      exitWithMistake(launch, *made);
    return exitOnError(launch, false, [&]() -> int {
      std::unique_ptr<World> world = World::connect(launch, made->comm, made->record);
      // Inside, so that the world is still there when a fault ends the process: taking it down
      // waits.
      return exitOnError(launch, false, [&] { return runAmongRanks(*made, *world); });
    });
  });
}

} // namespace titan::rt
