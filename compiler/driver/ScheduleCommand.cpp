// `titanc schedule`: generates, verifies and shows pipeline schedules.
#include "base/schedule/Csv.h"
#include "base/schedule/Verify.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/ScheduleDrawing.h"
#include "compiler/driver/TextTable.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"

#include <algorithm>

namespace titan::driver {

using namespace schedule;

namespace {

std::string percent(double fraction) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f %%", 100 * fraction);
  return text;
}

/// At most three digits behind the point.
std::string shortNumber(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3f", number);
  text.erase(text.find_last_not_of('0') + 1);
  return text.back() == '.' ? text.substr(0, text.size() - 1) : text;
}

std::string counted(int count, const std::string &noun, const char *plural = "s") {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : plural);
}

Costs costsOf(const ScheduleOptions &options, const Schedule &schedule) {
  Costs costs = makeCosts(options.costs, schedule);
  costs.transfer = options.transfer;
  costs.overlap = options.overlap;
  return costs;
}

/// A count of stash slots as a number of microbatches of all layers of a rank.
double asActivations(int slots, const Schedule &schedule) {
  return slots * double(schedule.ranks.size()) / schedule.stages;
}

double peakActivations(const Schedule &schedule) {
  const std::vector<int> peaks = assignStashSlots(schedule).peakOfRank;
  return asActivations(*std::max_element(peaks.begin(), peaks.end()), schedule);
}

/// One line a rank: its stages, their stash slots, and its idle time.
void printRanks(const Schedule &schedule, const Replay &times) {
  using Side = TextTable::Side;
  TextTable table({Side::Right, Side::Left, Side::Left, Side::Right, Side::Right, Side::Right});
  table.add({"rank", "stages", "stash slots", "peak activations", "idle", "of step"});
  const StashSlots slots = assignStashSlots(schedule);
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::string stages, counts;
    for (size_t stage = 0; stage < schedule.rankOf.size(); ++stage)
      if (schedule.rankOf[stage] == static_cast<int>(rank)) {
        stages += (stages.empty() ? "" : " ") + std::to_string(stage);
        counts += (counts.empty() ? "" : " ") + std::to_string(slots.count[stage]);
      }
    table.add({std::to_string(rank), stages, counts,
               shortNumber(asActivations(slots.peakOfRank[rank], schedule)),
               shortNumber(times.idle(rank)), percent(times.idle(rank) / times.step)});
  }
  table.print(llvm::outs());
}

void printSummary(const std::string &name, const Schedule &schedule, const Replay &times) {
  llvm::outs() << name << ": " << counted(static_cast<int>(schedule.ranks.size()), "rank") << ", "
               << counted(schedule.stages, "stage") << ", "
               << counted(schedule.microbatches, "microbatch", "es") << "\nbubble "
               << percent(times.bubble()) << " of the step, step " << shortNumber(times.step)
               << ", peak activations " << shortNumber(peakActivations(schedule)) << '\n';
  printRanks(schedule, times);
}

bool usesColor(const std::string &word) {
  return word == "always" || (word == "auto" && !std::getenv("NO_COLOR") &&
                              llvm::sys::Process::StandardOutIsDisplayed());
}

size_t widthOfTerminal() {
  constexpr size_t widthOfFile = 100;
  const unsigned columns = llvm::sys::Process::StandardOutColumns();
  return columns ? columns : widthOfFile;
}

/// Adds the actions that the options name.
Schedule applyPasses(Schedule schedule, const ScheduleOptions &options) {
  if (options.unshards)
    schedule = addUnshards(schedule, *options.unshards);
  if (options.addReductions)
    schedule = addGradientReductions(schedule);
  return options.addTransfers ? addTransfers(schedule) : schedule;
}

/// A table of compute actions shows idle time.
std::string tableOf(const Schedule &schedule) {
  const bool hasOthers = hasKind(schedule, [](Kind kind) { return !isCompute(kind); });
  return writeTable(hasOthers ? schedule : alignToTimeSteps(schedule));
}

int show(CompilerInstance &instance, const std::string &name, const Schedule &schedule,
         const ScheduleOptions &options) {
  if (options.printsTable) {
    llvm::outs() << tableOf(schedule);
    return instance.finish();
  }
  const Costs costs = costsOf(options, schedule);
  const Replay times = replay(schedule, costs);
  if (options.printsGrid)
    drawGrid(llvm::outs(), schedule, times, widthOfTerminal(), usesColor(instance.options.color));
  if (!options.svg.empty())
    if (std::error_code error = writeOutput(drawSvg(schedule, times), options.svg, false))
      reportWriteError(instance.diags, options.svg, error);
  printSummary(name, schedule, times);
  return instance.finish();
}

Schedule generateFor(const Algorithm &algorithm, Sizes sizes) {
  if (sizes.stagesPerRank == 0)
    sizes.stagesPerRank = algorithm.stagesPerRank;
  return generate(algorithm, sizes);
}

/// Bubble and peak activations of every algorithm, where it takes the sizes.
int compareAll(CompilerInstance &instance, const ScheduleOptions &options) {
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
      cells.push_back(percent(replay(schedule, costsOf(options, schedule)).bubble()));
      cells.push_back(shortNumber(peakActivations(schedule)));
    } catch (const ScheduleError &error) {
      cells.insert(cells.end(), {"-", "-"});
      notes += std::string(error.what()) + "\n";
    }
    table.add(std::move(cells));
  }
  table.print(llvm::outs());
  llvm::outs() << notes;
  return instance.finish();
}

/// The limit of `--memory-limit`, if it is given.
std::optional<MemoryLimit> limitOf(const ScheduleOptions &options, const Schedule &schedule) {
  if (!options.memoryLimit)
    return std::nullopt;
  const StageBytes bytes{.wgradStash = options.stashBytes};
  return MemoryLimit{std::vector(static_cast<size_t>(schedule.stages), bytes), options.memoryLimit};
}

/// Reports faults at their cells, or without locations if the schedule has no file.
void reportFaults(CompilerInstance &instance, std::optional<FileId> file, Code code,
                  const std::vector<ScheduleFault> &faults) {
  for (const ScheduleFault &fault : faults) {
    Location location;
    if (file) {
      const CellText cell =
          locateCell(instance.sources.text(*file), std::max(fault.rank, 0), fault.cell);
      location = instance.sources.locate(*file, cell.offset, cell.length);
    }
    instance.diags.report(code, location, fault.message).help(fault.remedy);
  }
}

/// Verifies a schedule, applies passes, and shows the result.
int process(CompilerInstance &instance, std::optional<FileId> file, const Schedule &schedule,
            const ScheduleOptions &options) {
  reportFaults(instance, file, Code::ScheduleFaulty, verify(schedule, limitOf(options, schedule)));
  return instance.diags.hasErrors()
             ? instance.finish()
             : show(instance, options.what, applyPasses(schedule, options), options);
}

int processTable(CompilerInstance &instance, FileId file, const ScheduleOptions &options) {
  std::vector<ScheduleFault> faults;
  const Schedule schedule = readTable(instance.sources.text(file), faults);
  reportFaults(instance, file, Code::NotAnAction, faults);
  return faults.empty() ? process(instance, file, schedule, options) : instance.finish();
}

int processFile(CompilerInstance &instance, const ScheduleOptions &options) {
  std::string reason;
  const std::optional<FileId> file = instance.sources.loadFile(options.what, reason);
  if (file && !options.what.ends_with(".titan"))
    return processTable(instance, *file, options);
  if (file)
    throw ScheduleError(
        "`" + options.what + "` is a program without a pipeline, and has no schedule",
        "name an algorithm (" + scheduleNames() + ") or a table of actions (FILE.csv)");
  instance.diags.report(Code::CannotReadFile, {}, "cannot read `" + options.what + "`: " + reason);
  return instance.finish();
}

} // namespace

std::string scheduleNames() {
  std::string names;
  for (const Algorithm &algorithm : allAlgorithms())
    names += std::string(algorithm.name) + ", ";
  return names + "all";
}

int scheduleCommand(const CommonOptions &common, const ScheduleOptions &options) {
  CompilerInstance instance(common);
  try {
    if (options.what == "all")
      return compareAll(instance, options);
    if (options.isFile())
      return processFile(instance, options);
    return process(instance, std::nullopt, generateFor(*findAlgorithm(options.what), options.sizes),
                   options);
  } catch (const ScheduleError &error) {
    instance.diags.report(Code::ScheduleUndefined, {}, error.what()).help(error.remedy);
    return instance.finish();
  }
}

} // namespace titan::driver
