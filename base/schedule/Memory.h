// The memory of a schedule. A rank runs its actions in order, so its memory follows from the order
// alone, without times.
#pragma once

#include "base/schedule/Schedule.h"

namespace titan::schedule {

/// Stash slots: memory for the residuals of one microbatch. A slot is occupied from F until W or B.
struct StashSlots {
  std::vector<int> count;               ///< per stage, the slots that it needs
  std::vector<std::vector<int>> slotOf; ///< per stage and microbatch, its slot
  std::vector<int> peakOfRank; ///< per rank, slots of all its stages that are occupied at once
};
/// Gives each microbatch the lowest free slot of its stage.
StashSlots assignStashSlots(const Schedule &schedule);

/// The memory of one stage on its rank, in bytes.
struct StageBytes {
  int64_t persistent = 0;    ///< always there: parameters, gradients, optimizer state
  int64_t unsharded = 0;     ///< from UNSHARD to RESHARD
  int64_t dgradStash = 0;    ///< residuals of a microbatch that dgrad alone reads: from F to I or B
  int64_t wgradStash = 0;    ///< the other residuals of a microbatch: from F to W or B
  int64_t wgradOperands = 0; ///< cotangents of a microbatch, from I to W
  /// The input of a microbatch, and its gradient. A copy exists from the action that computes or
  /// receives it to the last action of the rank that reads it.
  int64_t boundary = 0;
};

/// Per rank and action, the memory of the rank while the action runs, in bytes. `stages` has the
/// bytes of each stage.
std::vector<std::vector<int64_t>> findMemory(const Schedule &schedule,
                                             const std::vector<StageBytes> &stages);

} // namespace titan::schedule
