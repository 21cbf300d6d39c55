// The fragments that each rank runs in a step of a pipeline, in order. Plain data: every rank
// derives the order of all ranks from the program's table, so that both ends of a transfer agree.
//
// Ranks are coordinates along the axis of the pipeline here.
//
// Errors: Fault for a table that no compiler emits.
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

/// The schedule of a pipeline on `ranks` ranks. `microbatches` is the number of microbatches in
/// training, for programs without microbatches too: training decides which rank has which stage.
/// Throws ScheduleError.
schedule::Schedule buildSchedule(const Pipeline &pipeline, int64_t ranks, int64_t microbatches);

/// `Begin`, the compute actions of the rank's row, then `Update` or `Evaluate` by ascending level.
StepOrder orderStep(const Pipeline &pipeline, const schedule::Schedule &schedule);

/// The name of a call in profiles: "2F0" as in the schedule's table, otherwise that of the
/// function.
std::string getName(const Pipeline &pipeline, const FragmentCall &call);

} // namespace titan::pipeline
