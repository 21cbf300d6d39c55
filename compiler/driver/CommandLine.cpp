// The command line of titanc.
#include "base/cli/Arguments.h"
#include "base/settings/UnknownSetting.h"
#include "compiler/driver/Build.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Completion.h"
#include "compiler/driver/ModuleFile.h"
#include "compiler/driver/Plugins.h"
#include "compiler/driver/PredictionCommandLine.h"
#include "compiler/driver/ScheduleCommandLine.h"
#include "compiler/onnx/TranslateProgram.h"
#include "compiler/pipelines/Phases.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <iostream>

namespace titan::driver {
namespace {

/// All options of the command line.
struct Arguments {
  CommonOptions common;
  PrintOptions print;
  InfoOptions info;
  VerifyOptions verification;
  FormatOptions format;
  ImportOptions import;
  ExportOptions exported;
  BuildOptions build;
  RunOptions run;
  CacheOptions cache;
  FlightOptions flight;
  CalibrateOptions calibrate;
  PlanOptions plan;
  ScheduleOptions schedule;
  std::string code, directory;
  bool verify = false; ///< check --verify
  Shell completion = Shell::None;
};

void addDiagnostics(CLI::App &app, CommonOptions &options) {
  cli::addWord<std::string>(app, "--color",
                            {{"auto", "auto"}, {"always", "always"}, {"never", "never"}},
                            options.color, "colours in diagnostics; auto: on a terminal");
  cli::addWord<bool>(app, "--diagnostics", {{"text", false}, {"json", true}},
                     options.jsonDiagnostics,
                     "the format of diagnostics; json: one object per line");
}

/// The options that select and check a run.
void addSelection(CLI::App &app, CommonOptions &options) {
  app.add_option("--train", options.train, "the run, where the file has several")
      ->type_name("NAME");
  app.add_option("--config", options.config, "settings from a TOML file; --set overrides it")
      ->type_name("FILE.toml");
  app.add_option("--set", options.overrides, "override a setting (repeatable)")
      ->type_name("PATH=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("-I", options.searchDirs, "a directory to search for imports (repeatable)")
      ->type_name("DIR")
      ->take_all()
      ->allow_extra_args(false);
  // The spelling of compilers: CLI11 parses `-Werror` as `-W` with the value `error`.
  cli::addWord<bool>(app, "-W", {{"error", true}}, options.warningsAsErrors,
                     "-Werror: treat warnings as errors");
  app.add_flag("--Werror", options.warningsAsErrors, "the same");
  addDiagnostics(app, options);
}

void addCommon(CLI::App &app, CommonOptions &options, bool fileRequired,
               const std::string &what = "the .titan file") {
  app.add_option("FILE", options.file, what)->required(fileRequired)->type_name("");
  addSelection(app, options);
}

void addModel(CLI::App &app, CommonOptions &options) {
  app.add_option("--model", options.model, "check this model, without a run")
      ->type_name("NAME")
      ->excludes("--train");
}

std::string listPhaseNames() {
  std::string names;
  for (const pipelines::Phase &phase : pipelines::getPhases())
    names += (names.empty() ? "" : ", ") + phase.name.str();
  return names;
}

void addTarget(CLI::App &app, emission::Target &target) {
  cli::addWord<emission::Target>(app, "--target",
                                 {{"cpu", emission::Target::Cpu}, {"cuda", emission::Target::Cuda}},
                                 target, "the kind of device that the program runs on");
}

/// In the syntax of nvcc: 90, 90a, 100f.
bool isComputeCapability(llvm::StringRef text) {
  llvm::StringRef number = text.take_while(llvm::isDigit);
  llvm::StringRef suffix = text.drop_front(number.size());
  return (number.size() == 2 || number.size() == 3) &&
         (suffix.empty() || suffix == "a" || suffix == "f");
}

void addArch(CLI::App &command, BuildOptions &build) {
  auto read = [&build](const std::string &text) {
    if (text != "native" && !isComputeCapability(text))
      cli::refuse("--cuda-arch", "native or a compute capability such as 90", text);
    build.cudaArch = text;
  };
  command
      .add_option_function<std::string>(
          "--cuda-arch", read, "native or a compute capability such as 90; default: the runtime's")
      ->type_name("ARCH");
}

void addOptimization(CLI::App &command, std::optional<int> &level) {
  auto read = [&level](const std::string &text) {
    if (text.size() != 1 || text[0] < '0' || text[0] > '3')
      cli::refuse("-O", "a level from 0 to 3", text);
    level = text[0] - '0';
  };
  command
      .add_option_function<std::string>("-O", read,
                                        "how much the C++ compiler optimizes the program, 0 to 3; "
                                        "default: 3. Level 1 compiles in "
                                        "half the time, for programs that run for seconds")
      ->type_name("LEVEL");
}

/// Refuses options that would do nothing.
void checkEffects(const CommonOptions &options, const BuildOptions &build) {
  if (isModuleFile(options))
    refuseRunOptions(options);
  if (!build.cudaArch.empty() && build.target != emission::Target::Cuda)
    throw CLI::ParseError("--cuda-arch has no effect without --target cuda", 2);
  if (build.optimization && build.emit == EmitKind::Cpp)
    throw CLI::ParseError("-O has no effect with --emit cpp: nothing is compiled", 2);
}

void addBuild(CLI::App &app, CommonOptions &options, BuildOptions &build) {
  CLI::App *command = app.add_subcommand("build", "compile a file to a program");
  addCommon(*command, options, true,
            "the .titan file, or IR from --stop-after or --dump-phases (.mlir)");
  addPlugins(*command, options);
  command->add_option("-o", build.output, "the output; default: the file's name without .titan")
      ->type_name("PATH");
  cli::addWord<EmitKind>(
      *command, "--emit",
      {{"cpp", EmitKind::Cpp}, {"project", EmitKind::Project}, {"exe", EmitKind::Exe}}, build.emit,
      "an executable, a self-contained CMake project, or C++ source");
  addTarget(*command, build.target);
  addArch(*command, build);
  addOptimization(*command, build.optimization);
  command->callback([&options, &build] { checkEffects(options, build); });
}

void addRun(CLI::App &app, CommonOptions &options, RunOptions &run) {
  CLI::App *command = app.add_subcommand("run", "compile a file and start the program");
  addCommon(*command, options, true);
  addPlugins(*command, options);
  addTarget(*command, run.target);
  addOptimization(*command, run.optimization);
  cli::addNumber<int>(*command, "--nproc", 1, run.processes,
                      "processes that torchrun starts; default: the fewest that the map allows");
  command->add_option("ARGS", run.arguments, "after --: arguments of the program")->type_name("");
}

void addExport(CLI::App &app, CommonOptions &options, ExportOptions &exported) {
  CLI::App *command =
      app.add_subcommand("export", "write a model of ONNX beside weights that a program exported");
  addCommon(*command, options, true);
  addModel(*command, options);
  command
      ->add_option("--onnx", exported.directory,
                   "the directory of `PROGRAM export --hf DIR`, which gets model.onnx")
      ->required()
      ->type_name("DIR");
  exported.opset = onnx::leastOpset;
  cli::addNumber<int64_t>(*command, "--opset", onnx::leastOpset, exported.opset,
                          "the version of the operators, 23 to 25; default: 23", onnx::mostOpset);
  command->add_flag("!--no-kv-cache", exported.caches,
                    "compute all positions from tokens, without caches");
}

void addVerify(CLI::App &app, CommonOptions &options, VerifyOptions &verify) {
  CLI::App *command = app.add_subcommand(
      "verify", "compare a run on its mesh with one device, both interpreted with small sizes");
  addCommon(*command, options, true);
  addPlugins(*command, options);
  command->add_flag("--json", options.json, "print results as JSON");
  cli::addNumber<int64_t>(*command, "--processes", 1, verify.processes,
                          "the most virtual devices; degrees shrink to fit; default: 16");
  cli::addNumber<int64_t>(*command, "--steps", 1, verify.steps, "steps to compare; default: 3");
  command->add_flag("--keep-sizes", verify.keepSizes, "keep the sizes and degrees of the file");
}

void addInspection(CLI::App &app, Arguments &args) {
  CLI::App *check = app.add_subcommand("check", "check all declarations of a file");
  addCommon(*check, args.common, true);
  addModel(*check, args.common);
  check->add_flag("--verify", args.verify,
                  "compare the diagnostics with comments `# expected-error {{TEXT}}` in the file");
  CLI::App *info = app.add_subcommand(
      "info", "report parameters, memory, arithmetic and communication of a run");
  addCommon(*info, args.common, false);
  info->add_flag("--json", args.common.json, "print results as JSON");
  addModel(*info, args.common);
  addPlugins(*info, args.common);
  cli::addNumber<int64_t>(*info, "--nproc", 1, args.info.processes,
                          "number of processes; determines an `auto` degree");
  cli::addNumber<int64_t>(*info, "--threads", 1, args.info.threads,
                          "threads of a process, which determine the scratch of kernels; default: "
                          "this machine's cores divided by its processes");
  addTarget(*info, args.info.target);
  info->callback([&info = args.info] {
    if (info.threads && info.target == emission::Target::Cuda)
      throw CLI::ParseError("--threads has no effect with --target cuda", 2);
  });
  info->add_flag("--by-line", args.info.byLine,
                 "add operations and memory traffic of every source line");
  addPredictionOptions(*info, args.info);
  info->add_flag("--groups", args.info.groups, "list the ranks of all groups of the mesh");
  info->add_flag("--options", args.info.options, "list all options of runs");
  CLI::App *explain = app.add_subcommand("explain", "explain the code of a diagnostic");
  explain->add_option("CODE", args.code, "such as T0301")->required()->type_name("");
}

void addLora(CLI::App &import, LoraOptions &lora) {
  CLI::Option *rank = cli::addNumber<int64_t>(
      import, "--lora", 1, lora.rank,
      "train low-rank adapters of this rank; the parameters of the model are frozen");
  rank->type_name("RANK");
  cli::addPositive(import, "--lora-alpha", lora.alpha,
                   "factor of the adapters, divided by the rank; default: twice the rank")
      ->type_name("ALPHA")
      ->needs(rank);
  cli::addPositive(import, "--lora-dropout", lora.rate,
                   "share of the adapters' inputs that training drops; default: none")
      ->check(CLI::Range(0.0, 0.99))
      ->type_name("RATE")
      ->needs(rank);
  import
      .add_option(
          "--lora-on", lora.pattern,
          "names of parameters to adapt, such as `*.w[qv]`; default: all matrices of layers")
      ->type_name("PATTERN")
      ->needs(rank);
}

void addWriting(CLI::App &app, Arguments &args) {
  CLI::App *make = app.add_subcommand("new", "make a small project");
  make->add_option("DIR", args.directory, "the directory to make")->required()->type_name("");
  addDiagnostics(*make, args.common);
  CLI::App *import = app.add_subcommand(
      "import", "write a program for a Hugging Face model from its configuration");
  import->add_option("DIR", args.import.input, "a config.json, or a directory that contains one")
      ->required()
      ->type_name("");
  import->add_option("-o", args.import.output, "the output; default: the standard output")
      ->type_name("PATH");
  import
      ->add_option("--with", args.import.modules,
                   "a .titan file with further declarations `config` (repeatable)")
      ->type_name("PATH")
      ->take_all()
      ->allow_extra_args(false);
  addLora(*import, args.import.lora);
  import
      ->add_option("--preferences", args.import.preferences,
                   "train on pairs of answers with this loss and a frozen reference")
      ->check(CLI::IsMember({"dpo", "ipo"}))
      ->type_name("LOSS");
  addDiagnostics(*import, args.common);
  CLI::App *fmt = app.add_subcommand("fmt", "format files");
  fmt->add_option("FILE", args.format.files, "files to format in place; - is standard input")
      ->required()
      ->type_name("");
  fmt->add_flag("--check", args.format.check, "change nothing; exit with 1 if a file would change");
  addDiagnostics(*fmt, args.common);
}

void addCache(CLI::App &app, Arguments &args) {
  CLI::App *cache = app.add_subcommand("cache", "list the compiled programs that titanc keeps");
  cache->add_flag("--clean", args.cache.clean, "remove them");
  addDiagnostics(*cache, args.common);
}

void addFlight(CLI::App &app, FlightOptions &flight) {
  CLI::App *command = app.add_subcommand(
      "flight", "find the rank that kept a run waiting, from what all ranks did last");
  command->add_option("DIR", flight.directory, "the directory of a run that did not finish")
      ->required()
      ->type_name("");
  CLI::Option *rank = cli::addNumber<int>(*command, "--rank", 0, flight.rank,
                                          "print the last operations and calls of this rank");
  cli::addNumber<int64_t>(*command, "--last", 1, flight.last, "how many of them; default: 40")
      ->needs(rank);
}

void addAll(CLI::App &app, Arguments &args) {
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "titanc " TITAN_VERSION);
  addCommon(app, args.common, false);
  addPlugins(app, args.common);
  app.add_option("--stop-after", args.print.phase,
                 "print the IR after this phase: " + listPhaseNames())
      ->type_name("PHASE");
  app.add_option("--dump-phases", args.print.dumpDirectory,
                 "write the IR after every phase to this directory")
      ->type_name("DIR");
  app.add_flag("--mlir-print-debuginfo", args.print.locations, "print locations with the IR");
  cli::addWord<Shell>(app, "--completion", {{"bash", Shell::Bash}, {"zsh", Shell::Zsh}},
                      args.completion, "print this shell's completion script for titanc");
  addWriting(app, args);
  addInspection(app, args);
  addVerify(app, args.common, args.verification);
  addExport(app, args.common, args.exported);
  addBuild(app, args.common, args.build);
  addRun(app, args.common, args.run);
  addCache(app, args);
  CLI::App *plan = addPlan(app, args.plan);
  addCommon(*plan, args.common, true);
  plan->add_flag("--json", args.common.json, "print all tried combinations as JSON");
  addDiagnostics(*addCalibrate(app, args.calibrate), args.common);
  addFlight(app, args.flight);
  addSelection(*addSchedule(app, args.schedule), args.common);
}

/// The commands that accept a misplaced option; empty for unknown options.
std::string makeOptionHint(const CLI::App &app, const std::string &option) {
  if (option[0] != '-')
    return "";
  std::vector<std::string> commands;
  for (const CLI::App *command : app.get_subcommands({}))
    if (command->get_option_no_throw(option))
      commands.push_back(command->get_name());
  if (!commands.empty())
    return "; it is an option of " + listNames(commands);
  return app.get_option_no_throw(option) ? "; it is used without a command" : "";
}

/// Reports wrong usage with a suggestion.
int refuse(const CLI::App &app, const CLI::ParseError &error, int argc, char **argv) {
  std::string message = cli::explain(error), first = argc > 1 ? argv[1] : "", near;
  if (std::string unknown = cli::unknownArgument(error); !unknown.empty()) {
    std::vector<std::string> commands = cli::getCommandNames(app);
    bool isCommand = std::count(commands.begin(), commands.end(), first) != 0;
    bool isWord = !isCommand && first[0] != '-' && first.find('.') == std::string::npos;
    if (isWord)
      message = "there is no command `" + first + "`";
    near = isWord ? cli::didYouMean(first, commands)
                  : cli::didYouMean(unknown, cli::getOptionNames(app));
    std::string hint = makeOptionHint(app, unknown.substr(0, unknown.find('=')));
    if (!isWord && !hint.empty())
      near = hint;
    if (first == "run")
      message += "; arguments of the program follow `--`";
  }
  std::cerr << "titanc: " << message << near << "\nsee titanc --help" << '\n';
  return 2;
}

/// Reports a missing command before a file.
int askForCommand(const CLI::App &app, const std::string &word) {
  if (word.empty()) {
    std::cerr << app.help();
    return 2;
  }
  if (word.find('.') == std::string::npos)
    std::cerr << "titanc: there is no command `" << word << "`"
              << cli::didYouMean(word, cli::getCommandNames(app)) << "\n";
  else
    std::cerr << "titanc: no command is given for `" << word << "`; for example `titanc check "
              << word << "`\n";
  std::cerr << "see titanc --help\n";
  return 2;
}

/// Refuses an option that the command does not use.
void refuseIdle(const CLI::App &app) {
  for (const CLI::App *command : app.get_subcommands())
    for (const CLI::Option *option : app.get_options())
      if (option->count() > 0 && !command->get_option_no_throw(option->get_name()))
        throw CLI::ParseError(
            "`" + option->get_name() + "` cannot be used with `" + command->get_name() + "`", 2);
}

/// `titanc help build`, as in other tools, means `titanc build --help`.
std::vector<char *> readHelp(const CLI::App &app, int argc, char **argv) {
  static std::string flag = "--help";
  std::vector<char *> words(argv, argv + argc);
  bool isHelp = argc >= 2 && std::string_view(argv[1]) == "help";
  auto isMeant = [&](const CLI::App *command) { return command->get_name() == argv[2]; };
  std::vector<const CLI::App *> commands = app.get_subcommands({});
  if (isHelp && (argc == 2 || std::any_of(commands.begin(), commands.end(), isMeant))) {
    words.erase(words.begin() + 1);
    words.push_back(flag.data());
  }
  return words;
}

/// Parses the command line. Returns the exit status after an error, --help or --version; nothing if
/// a command must run.
std::optional<int> parse(CLI::App &app, int argc, char **argv) {
  try {
    std::vector<char *> words = readHelp(app, argc, argv);
    app.parse(static_cast<int>(words.size()), words.data());
    refuseIdle(app);
    cli::refuseEmpty(app);
    for (const CLI::App *command : app.get_subcommands())
      cli::refuseEmpty(*command);
    return std::nullopt;
  } catch (const CLI::Success &done) { // help, version
    return app.exit(done);
  } catch (const CLI::ParseError &error) {
    return refuse(app, error, argc, argv);
  }
}

} // namespace

/// A command fails if its output could not be written.
static int finishOutput(int status) {
  llvm::outs().flush();
  std::cout.flush();
  if (!llvm::outs().has_error() && std::cout)
    return status;
  std::string why = llvm::outs().has_error() ? ": " + llvm::outs().error().message() : "";
  llvm::outs().clear_error(); // it is reported by us
  std::cerr << "titanc: cannot write to the standard output" << why << '\n';
  return status ? status : 1;
}

static int runCommandLine(int argc, char **argv) {
  CLI::App app{"Titan's compiler: .titan files become native training programs", "titanc"};
  Arguments args;
  addAll(app, args);
  if (std::optional<int> status = parse(app, argc, argv))
    return *status;
  if (args.completion != Shell::None)
    return printCompletion(app, args.completion);
  if (!loadPlugins(args.common))
    return 2;
  auto chosen = [&](const char *name) { return app.got_subcommand(name); };
  if (chosen("new"))
    return newCommand(args.common, args.directory);
  if (chosen("import"))
    return importCommand(args.common, args.import);
  if (chosen("fmt"))
    return formatCommand(args.common, args.format);
  if (chosen("export"))
    return exportCommand(args.common, args.exported);
  if (chosen("build"))
    return buildCommand(args.common, args.build);
  if (chosen("run"))
    return runCommand(args.common, args.run);
  if (chosen("cache"))
    return cacheCommand(args.common, args.cache);
  if (chosen("plan"))
    return planCommand(args.common, args.plan);
  if (chosen("calibrate"))
    return calibrateCommand(args.common, args.calibrate);
  if (chosen("flight"))
    return flightCommand(args.flight);
  if (chosen("schedule"))
    return scheduleCommand(args.common, args.schedule);
  if (chosen("explain"))
    return explainCommand(args.code);
  if (chosen("info") && args.common.file.empty() && !args.info.options) {
    std::cerr << "titanc: FILE is missing\nsee titanc --help\n";
    return 2;
  }
  if (chosen("info"))
    return infoCommand(args.common, args.info);
  if (chosen("verify"))
    return verifyCommand(args.common, args.verification);
  if (chosen("check"))
    return checkCommand(args.common, args.verify);
  bool prints = !args.print.phase.empty() || !args.print.dumpDirectory.empty() ||
                !args.common.pipeline.empty();
  if (prints && !args.common.file.empty())
    return printCommand(args.common, args.print);
  if (prints) {
    std::cerr << "titanc: FILE is missing\nsee titanc --help\n";
    return 2;
  }
  return askForCommand(app, args.common.file);
}

int runTitanc(int argc, char **argv) {
  return finishOutput(runCommandLine(argc, argv));
}

} // namespace titan::driver
