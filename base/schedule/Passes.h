// Passes on schedules, which may run in any order. Each takes a schedule that `verify` accepts and
// returns another one that `verify` accepts. A pass that adds actions throws ScheduleError if the
// schedule has such actions already.
#pragma once

#include "base/schedule/Schedule.h"

namespace titan::schedule {

/// Adds a send and a receive for every value that one rank computes and another one reads.
///
/// All transfers of the table are in one order, by the time at which the value is computed, and
/// every rank has its sends and receives in this order. Sends and receives that block therefore
/// cannot deadlock: the first transfer that has not happened is next on both of its ranks, or
/// follows computation that waits for earlier transfers alone.
Schedule addTransfers(const Schedule &schedule);

/// How long the parameters of a stage stay unsharded.
enum class Residency {
  Step,       ///< from its first to its last action: one all-gather a step
  Microbatch, ///< during the consecutive actions of one microbatch: least memory
};
/// Adds UNSHARD before and RESHARD after the computation of each stage.
Schedule addUnshards(const Schedule &schedule, Residency residency);

/// Adds REDUCE_GRAD after the last B or W of each stage.
Schedule addGradientReductions(const Schedule &schedule);

/// Removes all actions except F, B, I and W, and idle cells.
Schedule selectComputation(const Schedule &schedule);

/// Moves each cell to its time step, so that a table shows idle time. Every cell takes one step.
/// Throws ScheduleError if the schedule has actions other than F, B, I and W.
Schedule alignToTimeSteps(const Schedule &schedule);

} // namespace titan::schedule
