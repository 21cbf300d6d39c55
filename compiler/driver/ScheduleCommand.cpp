// `titanc schedule`: generates, verifies and shows pipeline schedules.
#include "base/schedule/Csv.h"
#include "base/schedule/Verify.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/RunSummary.h"
#include "compiler/driver/ScheduleDrawing.h"
#include "compiler/driver/ScheduleText.h"
#include "compiler/driver/TextTable.h"
#include "compiler/sema/modules/ScheduleFile.h"

#include "llvm/Support/Process.h"

#include <algorithm>

namespace titan::driver {

using namespace schedule;

namespace {

/// A schedule to show, with the costs, the memory and the table that its source has.
struct ShownSchedule {
  Schedule schedule;
  Costs costs;
  FileId file = FileId::none;       ///< its table
  std::string unit = "";            ///< of times
  std::vector<int64_t> memory = {}; ///< of each rank in bytes, where it is known
};

bool usesColor(const std::string &word) {
  return word == "always" || (word == "auto" && !std::getenv("NO_COLOR") &&
                              llvm::sys::Process::StandardOutIsDisplayed());
}

size_t getTerminalWidth() {
  constexpr size_t widthOfFile = 100;
  const unsigned columns = llvm::sys::Process::StandardOutColumns();
  return columns ? columns : widthOfFile;
}

Costs computeCosts(const ScheduleOptions &options, const Schedule &schedule) {
  Costs costs = makeCosts(options.costs, schedule);
  costs.transfer = options.transfer;
  costs.overlap = options.overlap;
  return costs;
}

/// Adds the actions that the options name.
Schedule applyPasses(Schedule schedule, const ScheduleOptions &options) {
  if (options.unshards)
    schedule = addUnshards(schedule, *options.unshards);
  if (options.addReductions)
    schedule = addGradientReductions(schedule);
  return options.addTransfers ? addTransfers(schedule) : schedule;
}

/// The table of the actions; with idle cells if all actions are computation.
std::string formatTable(const Schedule &schedule) {
  const bool hasOthers = hasKind(schedule, [](Kind kind) { return !isCompute(kind); });
  return writeTable(hasOthers ? schedule : alignToTimeSteps(schedule));
}

void show(CompilerInstance &instance, const ShownSchedule &shown, const ScheduleOptions &options) {
  const Schedule schedule = applyPasses(shown.schedule, options);
  if (options.printsTable) {
    llvm::outs() << formatTable(schedule);
    return;
  }
  const Replay times = replay(schedule, shown.costs);
  if (options.printsGrid)
    drawGrid(llvm::outs(), schedule, times, getTerminalWidth(), usesColor(instance.options.color));
  if (!options.svg.empty())
    if (std::error_code error = writeOutput(drawSvg(schedule, times), options.svg))
      reportWriteError(instance.diags, options.svg, error);
  printSummary(options.source, schedule, times, shown.unit, shown.memory);
}

Schedule generateFor(const Algorithm &algorithm, Sizes sizes) {
  if (sizes.stagesPerRank == 0)
    sizes.stagesPerRank = algorithm.stagesPerRank;
  return generate(algorithm, sizes);
}

/// Bubble and peak activations of every algorithm that is defined for the sizes.
void compareAll(const ScheduleOptions &options) {
  using Side = TextTable::Side;
  TextTable table({Side::Left, Side::Right, Side::Right, Side::Right});
  table.add({"schedule", "stages a rank", "bubble", "peak activations"});
  std::string notes;
  for (const Algorithm &algorithm : allAlgorithms()) {
    Sizes sizes = options.sizes;
    if (sizes.stagesPerRank == 0 || !algorithm.isLooped)
      sizes.stagesPerRank = algorithm.stagesPerRank;
    std::vector<std::string> cells = {std::string(algorithm.name),
                                      std::to_string(sizes.stagesPerRank)};
    try {
      const Schedule schedule = generate(algorithm, sizes);
      cells.push_back(formatPercent(replay(schedule, computeCosts(options, schedule)).bubble()));
      cells.push_back(formatNumber(computePeakActivations(schedule)));
    } catch (const ScheduleError &error) {
      cells.insert(cells.end(), {"-", "-"});
      notes += std::string(error.what()) + "\n";
    }
    table.add(std::move(cells));
  }
  table.print(llvm::outs());
  llvm::outs() << notes;
}

/// The limit of `--memory-limit`, if it is given.
std::optional<MemoryLimit> makeMemoryLimit(const ScheduleOptions &options,
                                           const Schedule &schedule) {
  if (!options.memoryLimit)
    return std::nullopt;
  const StageBytes bytes{.wgradStash = options.stashBytes};
  return MemoryLimit{std::vector(static_cast<size_t>(schedule.stages), bytes), options.memoryLimit};
}

/// Verifies a schedule and shows it.
void verifyAndShow(CompilerInstance &instance, const ShownSchedule &shown,
                   const ScheduleOptions &options) {
  sema::reportFaults(verify(shown.schedule, makeMemoryLimit(options, shown.schedule)),
                     Code::ScheduleFaulty, shown.file, instance.diags);
  if (!instance.diags.hasErrors())
    show(instance, shown, options);
}

void showTable(CompilerInstance &instance, const ScheduleOptions &options) {
  std::string reason;
  const std::optional<FileId> file = instance.sources.loadFile(options.source, reason);
  if (!file)
    instance.diags.report(Code::CannotReadFile, {},
                          "cannot read `" + options.source + "`: " + reason);
  else if (std::optional<Schedule> schedule = sema::readScheduleFile(*file, instance.diags))
    verifyAndShow(instance, {*schedule, computeCosts(options, *schedule), *file}, options);
}

/// A unit of floating-point operations, in which a stage costs less than 1000.
struct Unit {
  double size = 1;
  std::string name = " FLOP";
};
Unit chooseUnit(const plan::PipelineReport &pipeline) {
  double most = 0;
  for (const plan::StageReport &stage : pipeline.stages)
    most = std::max(most, stage.getFlops());
  Unit unit;
  for (const char *prefix : {"k", "M", "G", "T", "P"})
    if (most >= 1000 * unit.size)
      unit = {1000 * unit.size, std::string(" ") + prefix + "FLOP"};
  return unit;
}

Costs computeCosts(const ScheduleOptions &options, const plan::PipelineReport &pipeline,
                   double unit) {
  Costs costs{.stages = {}, .overlap = options.overlap};
  for (const plan::StageReport &stage : pipeline.stages)
    costs.stages.push_back({stage.forward / unit, stage.dgrad / unit, stage.wgrad / unit});
  return costs;
}

/// The schedule of a program's run, with the costs of its stages and the memory of its ranks.
void showProgram(CompilerInstance &instance, const ScheduleOptions &options) {
  const std::optional<sema::CheckedRun> run = instance.checkRun();
  const std::optional<RunSummary> summary =
      run ? makeRunSummary(instance, *run, /*processes=*/0, /*threads=*/0) : std::nullopt;
  if (!summary)
    return;
  if (!summary->pipeline)
    throw ScheduleError("`" + options.source + "` has no pipeline, so it has no schedule",
                        "name an algorithm (" + listScheduleNames() +
                            ") or a table of actions (FILE.csv)");
  const plan::PipelineReport &pipeline = *summary->pipeline;
  const Unit unit = chooseUnit(pipeline);
  ShownSchedule shown{pipeline.schedule, computeCosts(options, pipeline, unit.size)};
  shown.unit = unit.name;
  for (const plan::MemoryReport &memory : summary->memoryOfStages)
    shown.memory.push_back(memory.getTraining());
  verifyAndShow(instance, shown, options);
  if (!options.printsTable)
    printStages(llvm::outs(), pipeline);
}

void showSource(CompilerInstance &instance, const ScheduleOptions &options) {
  if (options.source == "all")
    return compareAll(options);
  if (options.isProgram())
    return showProgram(instance, options);
  if (options.isFile())
    return showTable(instance, options);
  const Schedule schedule = generateFor(*findAlgorithm(options.source), options.sizes);
  verifyAndShow(instance, {schedule, computeCosts(options, schedule)}, options);
}

} // namespace

std::string listScheduleNames() {
  std::string names;
  for (const Algorithm &algorithm : allAlgorithms())
    names += std::string(algorithm.name) + ", ";
  return names + "all";
}

int scheduleCommand(const CommonOptions &common, const ScheduleOptions &options) {
  CommonOptions programOptions = common;
  if (options.isProgram())
    programOptions.file = options.source;
  CompilerInstance instance(programOptions);
  try {
    showSource(instance, options);
  } catch (const ScheduleError &error) {
    instance.diags.report(Code::ScheduleUndefined, {}, error.what()).help(error.remedy);
  }
  return instance.finish();
}

} // namespace titan::driver
