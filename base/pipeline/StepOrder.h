// The order in which each rank calls fragments in a step of a pipeline. Plain data: every rank
// derives the order of all ranks from the program's table, so that both ends of a transfer agree.
//
// In this file, a rank is a coordinate along the axis of the pipeline.
//
// Errors: throws Fault if the table is inconsistent, which no compiler emits.
#pragma once

#include "base/pipeline/Table.h"
#include "base/schedule/Schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace titan::pipeline {

/// One execution of a fragment.
struct FragmentCall {
  int fragment;       ///< index into Pipeline::fragments
  int64_t microbatch; ///< -1: the fragment runs once per step
};

/// The calls of each rank.
using StepOrder = std::vector<std::vector<FragmentCall>>;

/// The schedule of a pipeline on `ranks` ranks. `microbatches` is the number of microbatches of the
/// train program, also for programs without microbatches: all programs place stages on the same
/// ranks. Throws ScheduleError.
schedule::Schedule buildSchedule(const Pipeline &pipeline, int64_t ranks, int64_t microbatches);

/// Orders the calls of each rank: `Begin` fragments, the compute actions of the rank's row of the
/// schedule, then `Update` or `Evaluate` fragments by ascending level.
StepOrder orderStep(const Pipeline &pipeline, const schedule::Schedule &schedule);

/// The name of a call in profiles: the action in the schedule's table, such as "2F0", or else the
/// name of the function.
std::string getName(const Pipeline &pipeline, const FragmentCall &call);

} // namespace titan::pipeline
