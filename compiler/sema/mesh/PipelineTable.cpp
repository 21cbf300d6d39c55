#include "compiler/sema/mesh/PipelineTable.h"

#include "base/schedule/Csv.h"
#include "base/schedule/Passes.h"
#include "base/schedule/Verify.h"
#include "compiler/sema/modules/ScheduleFile.h"

namespace titan::sema {

static const Option &getScheduleOption(const Run &run) {
  return run.options.at("pipeline.schedule");
}

bool namesTable(const Run &run) {
  return getScheduleOption(run).value.kind == Value::Kind::String;
}

/// Whether the axis has the ranks and the stages of the table. Reports if not.
static bool fits(const schedule::Schedule &table, const Run &run, const Axis &axis,
                 DiagnosticEngine &diags) {
  const int64_t ranks = static_cast<int64_t>(table.ranks.size());
  const int64_t stages = axis.degree * axis.stages;
  const bool hasRanks = axis.degree == ranks;
  if (hasRanks && (!axis.stagesLoc.isValid() || stages == table.stages))
    return true;
  const std::string has =
      hasRanks
          ? std::to_string(stages) + " stages, but its schedule has " + std::to_string(table.stages)
          : std::to_string(axis.degree) + " ranks, but its schedule has " + std::to_string(ranks);
  diags
      .report(Code::PipelineStages, hasRanks ? axis.stagesLoc : axis.degreeLoc,
              "axis `" + axis.name + "` has " + has)
      .note(getScheduleOption(run).loc, "the schedule is named here")
      .help(hasRanks ? "remove `stages`: the table states the stages of each rank"
                     : "a table has one line per rank");
  return false;
}

std::optional<schedule::Schedule> readTable(const Run &run, const Axis &axis,
                                            SourceManager &sources, DiagnosticEngine &diags) {
  const Option &option = getScheduleOption(run);
  std::string reason;
  const std::optional<FileId> file = sources.loadFile(option.value.text, reason);
  if (!file) {
    diags.report(Code::CannotReadFile, option.loc,
                 "cannot read `" + option.value.text + "`: " + reason);
    return std::nullopt;
  }
  std::optional<schedule::Schedule> table = readScheduleFile(*file, diags);
  if (!table)
    return std::nullopt;
  const std::vector<schedule::ScheduleFault> faults = schedule::verify(*table);
  reportFaults(faults, Code::ScheduleFaulty, *file, diags);
  return faults.empty() && fits(*table, run, axis, diags) ? table : std::nullopt;
}

std::string writeSource(const schedule::Schedule &table) {
  return schedule::writeTable(schedule::selectComputation(table));
}

} // namespace titan::sema
