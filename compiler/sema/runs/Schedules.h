// The schedules of a run's learning rate: that of the run, and those of groups of parameters.
#pragma once

#include "compiler/sema/program/Program.h"
#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// A schedule as a function of numbers.
struct ScheduleFunction {
  Model model; ///< as `elaborateSchedule` makes it
  /// The source of each input: `step`, `steps`, or the path of a setting.
  std::vector<std::string> sources;
};

/// Elaborates the schedule of the run. Empty after an error, or if the run has none.
std::optional<ScheduleFunction> elaborateSchedule(const Run &run, const Library &library,
                                                  DiagnosticEngine &diags);

/// The schedules of groups.
struct GroupSchedules {
  std::vector<ScheduleFunction> functions;
  /// For each parameter of the model the index of its function; empty: it has the run's schedule.
  std::vector<std::optional<size_t>> functionOf;
};

/// Elaborates the schedules of the groups that match a parameter, once for equal options. A launch
/// cannot change the options.
GroupSchedules elaborateGroupSchedules(const Run &run, const Model &model, const Library &library,
                                       DiagnosticEngine &diags);

} // namespace titan::sema
