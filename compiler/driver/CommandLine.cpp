// The command line of titanc.
#include "compiler/driver/Build.h"
#include "compiler/driver/Commands.h"
#include "compiler/pipelines/Phases.h"
#include "dialects/registration/RegisterAll.h"

#include "CLI/CLI.hpp"

namespace titan::driver {
namespace {

void addCommon(CLI::App &app, CommonOptions &options, bool fileRequired) {
  app.add_option("FILE", options.file, "the .titan file")->required(fileRequired);
  app.add_option("--train", options.train, "the run, where the file has several");
  app.add_option("--set", options.overrides, "PATH=VALUE: override a setting")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("-I", options.searchDirs, "a directory to look for imports in")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--json", options.json, "print results as JSON");
  app.add_flag("--Werror", options.warningsAsErrors, "treat warnings as errors");
  app.add_option("--color", options.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option_function<std::string>(
         "--diagnostics",
         [&](const std::string &form) { options.jsonDiagnostics = form == "json"; }, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--load-pass-plugin", options.plugins, "a library with passes of your own")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--insert-pass", options.insertions,
                 "after:PHASE=PASS: run a pass when a phase has ended")
      ->take_all()
      ->allow_extra_args(false);
}

/// Makes the passes of plugins known and sees that what is to be inserted can be.
bool loadPlugins(const CommonOptions &options) {
  auto isGood = [](llvm::Error error) {
    if (!error)
      return true;
    std::cerr << "titanc: " << llvm::toString(std::move(error)) << '\n';
    return false;
  };
  if (!options.insertions.empty())
    titan::registerPasses();
  for (const std::string &file : options.plugins)
    if (!isGood(pipelines::loadPassPlugin(file)))
      return false;
  for (const std::string &text : options.insertions)
    if (!isGood(pipelines::readInsertion(text).takeError()))
      return false;
  return true;
}

std::string phaseNames() {
  std::string names;
  for (const pipelines::Phase &phase : pipelines::getPhases())
    names += (names.empty() ? "" : ", ") + phase.name.str();
  return names;
}

void addTarget(CLI::App &app, emission::Target &target) {
  const std::map<std::string, emission::Target> targets{{"cpu", emission::Target::Cpu},
                                                        {"cuda", emission::Target::Cuda}};
  app.add_option("--target", target, "cpu or cuda")
      ->transform(CLI::CheckedTransformer(targets))
      ->option_text("DEVICE");
}

CLI::App *addBuild(CLI::App &app, CommonOptions &options, BuildOptions &build) {
  CLI::App *command = app.add_subcommand("build", "compile a file to a program");
  addCommon(*command, options, true);
  command->add_option("-o", build.output, "what to write; default: the file's name without .titan");
  const std::map<std::string, EmitKind> kinds{
      {"cpp", EmitKind::Cpp}, {"project", EmitKind::Project}, {"exe", EmitKind::Exe}};
  command
      ->add_option("--emit", build.emit, "exe, project (a directory that builds by itself) or cpp")
      ->transform(CLI::CheckedTransformer(kinds))
      ->option_text("KIND");
  addTarget(*command, build.target);
  command->add_option("--cuda-arch", build.cudaArch,
                      "native or a compute capability such as 90; default: the runtime's");
  return command;
}

CLI::App *addRun(CLI::App &app, CommonOptions &options, RunOptions &run) {
  CLI::App *command = app.add_subcommand("run", "compile a file and start the program");
  addCommon(*command, options, true);
  addTarget(*command, run.target);
  command->add_option("--nproc", run.processes, "processes to start, by torchrun")
      ->check(CLI::PositiveNumber);
  command->add_option("ARGS", run.arguments, "after --: arguments of the program");
  return command;
}

} // namespace

int runTitanc(int argc, char **argv) {
  CLI::App app{"Titan's compiler: .titan files become native training programs", "titanc"};
  app.require_subcommand(0, 1);
  CommonOptions options;
  PrintOptions print;
  InfoOptions info;
  std::string code;
  addCommon(app, options, false);
  app.add_option("--stop-after", print.phase, "print the IR after this phase: " + phaseNames());
  app.add_option("--dump-phases", print.dumpDirectory,
                 "write the IR after every phase to this directory");
  app.add_flag("--mlir-print-debuginfo", print.locations, "print locations with the IR");
  CLI::App *check = app.add_subcommand("check", "check everything in a file");
  addCommon(*check, options, true);
  CLI::App *infoApp = app.add_subcommand("info", "what is known of a run before it runs");
  addCommon(*infoApp, options, false);
  infoApp
      ->add_option("--nproc", info.processes,
                   "processes that will be started; fixes an `auto` degree")
      ->check(CLI::PositiveNumber);
  infoApp->add_flag("--by-line", info.byLine,
                    "operations and memory traffic of every source line, too");
  infoApp->add_flag("--options", info.options, "list all options that runs have");
  FormatOptions format;
  CLI::App *fmt = app.add_subcommand("fmt", "lay files out in the one way");
  fmt->add_option("FILE", format.files, "files to format in place; - is standard input")
      ->required();
  fmt->add_flag("--check", format.check, "change nothing; exit with 1 if a file would change");
  BuildOptions build;
  CLI::App *buildApp = addBuild(app, options, build);
  RunOptions run;
  CLI::App *runApp = addRun(app, options, run);
  CLI::App *explain = app.add_subcommand("explain", "explain the code of a diagnostic");
  explain->add_option("CODE", code, "such as T0301")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!loadPlugins(options))
    return 2;
  if (*fmt)
    return formatCommand(format);
  if (*buildApp)
    return buildCommand(options, build);
  if (*runApp)
    return runCommand(options, run);
  if (*explain)
    return explainCommand(code);
  if (*infoApp && (info.options || !options.file.empty()))
    return infoCommand(options, info);
  if (*check)
    return checkCommand(options);
  if ((!print.phase.empty() || !print.dumpDirectory.empty()) && !options.file.empty())
    return printCommand(options, print);
  std::cerr << app.help();
  return 2;
}

} // namespace titan::driver
