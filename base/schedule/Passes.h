// Passes on schedules. Each takes a schedule that `verify` accepts and returns one that it accepts,
// in any order. A pass that adds actions throws ScheduleError if the schedule has some of them.
#pragma once

#include "base/schedule/Schedule.h"

namespace titan::schedule {

/// Adds a send and a receive for every value that one rank computes and another one reads.
///
/// All transfers of the table are in one order, by the time at which the value is computed, and
/// every rank has its sends and receives in this order. Sends and receives that block therefore
/// cannot deadlock: the first transfer that has not happened is next on both of its ranks, or
/// behind computation that waits for earlier transfers alone.
Schedule addTransfers(const Schedule &schedule);

/// How long the parameters of a stage stay unsharded.
enum class Residency {
  Step,       ///< from its first to its last action: one all-gather a step
  Microbatch, ///< during the consecutive actions of one microbatch: least memory
};
/// Adds UNSHARD before and RESHARD behind the computation of each stage.
Schedule addUnshards(const Schedule &schedule, Residency residency);

/// Adds REDUCE_GRAD behind the last B or W of each stage.
Schedule addGradientReductions(const Schedule &schedule);

/// Leaves out all actions but computation, and idle cells.
Schedule selectComputation(const Schedule &schedule);

/// Moves each cell to its time step, so that a table shows idle time. Every cell takes one step.
/// Throws ScheduleError if the schedule has other actions than computation.
Schedule alignToTimeSteps(const Schedule &schedule);

} // namespace titan::schedule
