#include "compiler/driver/ScheduleCommandLine.h"
#include "base/cli/Arguments.h"
#include "base/settings/UnknownSetting.h"
#include "compiler/driver/Commands.h"

namespace titan::driver {
namespace {

void addCosts(CLI::App &app, ScheduleOptions &options) {
  cli::addNumber<double>(
      app, "--forward", 0, options.costs.forward,
      "time of a forward pass (F) of one microbatch through all stages of a rank");
  cli::addNumber<double>(app, "--backward", 0, options.costs.dgrad,
                         "time of the gradient of the input (I)");
  cli::addNumber<double>(app, "--weight", 0, options.costs.wgrad,
                         "time of the gradients of the parameters (W); B takes the sum of I and W");
  cli::addNumber<double>(app, "--transfer", 0, options.transfer,
                         "time of a transfer between ranks, concurrent with computation");
  cli::addNumber<double>(app, "--overlap", 0, options.overlap,
                         "time of an overlapped cell, relative to the sum of its actions");
}

/// Refuses options that only programs have, or that programs do not have.
void checkProgramOptions(const CLI::App &command, const ScheduleOptions &options) {
  const std::vector<const char *> ofPrograms = {"--train", "--config", "--set", "-I", "-W"},
                                  ofOthers = {"--forward",  "--backward",    "--weight",
                                              "--transfer", "--stash-bytes", "--memory-limit"};
  for (const char *name : options.isProgram() ? ofOthers : ofPrograms)
    if (command.count(name))
      throw CLI::ParseError(std::string(name) +
                                (options.isProgram()
                                     ? " has no effect: the program determines times and memory"
                                     : " is for a program (FILE.titan)"),
                            2);
}

/// Refuses options that the named schedule does not use.
void checkSchedule(const CLI::App &command, const ScheduleOptions &options) {
  checkProgramOptions(command, options);
  const auto [ranks, stagesPerRank, microbatches] = options.sizes;
  const bool prints = options.printsGrid || options.printsTable || !options.svg.empty();
  const bool passes = options.addTransfers || options.addReductions || options.unshards;
  if (!options.stashBytes != !options.memoryLimit)
    throw CLI::ParseError("--stash-bytes requires --memory-limit, and the reverse", 2);
  if (options.printsTable && (options.printsGrid || !options.svg.empty()))
    throw CLI::ParseError("--csv prints only the table", 2);
  if (options.isFile()) {
    if (ranks || stagesPerRank || microbatches)
      throw CLI::ParseError("the sizes of `" + options.source + "` follow from its " +
                                (options.isProgram() ? "map and run" : "actions"),
                            2);
    return;
  }
  if (options.source != "all" && !schedule::findAlgorithm(options.source)) {
    std::vector<std::string> names = {"all"};
    for (const schedule::Algorithm &algorithm : schedule::allAlgorithms())
      names.emplace_back(algorithm.name);
    const std::string near = cli::didYouMean(options.source, names);
    throw CLI::ParseError("there is no schedule `" + options.source + "`" +
                              (near.empty() ? "; a table of actions is a FILE.csv" : near),
                          2);
  }
  if (!ranks || !microbatches)
    throw CLI::ParseError(std::string(ranks ? "--microbatches" : "--ranks") + " is missing", 2);
  if (options.source == "all" && (prints || passes || options.memoryLimit))
    throw CLI::ParseError("`all` compares schedules: it takes only sizes and times", 2);
}

} // namespace

CLI::App *addSchedule(CLI::App &app, ScheduleOptions &options) {
  CLI::App *command =
      app.add_subcommand("schedule", "generate, verify and show a pipeline schedule");
  command
      ->add_option("SCHEDULE", options.source,
                   listScheduleNames() +
                       ", a table of actions (FILE.csv), or a program (FILE.titan)")
      ->required()
      ->type_name("");
  cli::addNumber<int>(*command, "--ranks", 1, options.sizes.ranks, "ranks of the pipeline");
  cli::addNumber<int>(*command, "--microbatches", 1, options.sizes.microbatches,
                      "microbatches of a step");
  cli::addNumber<int>(
      *command, "--stages-per-rank", 1, options.sizes.stagesPerRank,
      "stages of a rank; default: 2 if the schedule has several stages per rank, else 1");
  addCosts(*command, options);
  cli::addNumber<int64_t>(*command, "--stash-bytes", 1, options.stashBytes,
                          "memory of the residuals of one stage and microbatch");
  cli::addNumber<int64_t>(*command, "--memory-limit", 1, options.memoryLimit,
                          "the most bytes that the residuals of a rank may take");
  command->add_flag("--communication", options.addTransfers, "add sends and receives");
  cli::addWord<std::optional<schedule::Residency>>(
      *command, "--unshard",
      {{"step", schedule::Residency::Step}, {"microbatch", schedule::Residency::Microbatch}},
      options.unshards, "add UNSHARD and RESHARD, once a step or around every microbatch");
  command->add_flag("--reduce-grad", options.addReductions, "add REDUCE_GRAD");
  command->add_flag("--show", options.printsGrid, "draw the schedule");
  command->add_flag("--csv", options.printsTable, "print the table of actions");
  command->add_option("--svg", options.svg, "write a picture")->type_name("PATH");
  command->callback([command, &options] { checkSchedule(*command, options); });
  return command;
}

} // namespace titan::driver
