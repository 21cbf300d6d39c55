// Replays a schedule in time: each rank runs its cells in order, each cell as soon as the values
// that it reads are on the rank.
//
// Times are in any unit. UNSHARD, RESHARD and REDUCE_GRAD take none: their collectives run beside
// computation.
#pragma once

#include "base/schedule/Schedule.h"

namespace titan::schedule {

/// The times of one stage for one microbatch.
struct StageCosts {
  double forward = 1, dgrad = 1, wgrad = 1;
  std::optional<double> backward = std::nullopt; ///< of B; absent: dgrad + wgrad
};

struct Costs {
  std::vector<StageCosts> stages = {{}}; ///< one per stage, or one for all stages
  double transfer = 0;                   ///< the time of a transfer from rank to rank
  double overlap = 1; ///< the time of a cell with two actions, over the sum of their times
};

/// Equal costs of all stages. A rank spends `ofRank` on one microbatch, divided by its stages.
Costs makeCosts(const StageCosts &ofRank, const Schedule &schedule);

enum class Transfers {
  /// Sends and receives do not occupy the rank: a value arrives `transfer` after both were reached.
  /// Without sends and receives in the table, every value is sent when it is computed.
  Concurrent,
  /// A send and its receive wait for one another (rendezvous) and occupy both ranks.
  Blocking,
};

struct Span {
  double start = 0, end = 0;
};

struct Replay {
  std::vector<std::vector<Span>> spans; ///< of the actions that ran, per rank
  std::vector<double> busy;             ///< per rank, time of computation
  double step = 0;                      ///< until the last rank has finished

  /// Whether all actions ran; false after a deadlock.
  bool isComplete(const Schedule &schedule) const;
  /// The time in which a rank does not compute, until the barrier at the end of the step.
  double idle(size_t rank) const { return step - busy[rank]; }
  /// The idle time of all ranks, as a fraction of their time.
  double bubble() const;
};

/// Requires actions of known stages and microbatches, on ranks that `rankOf` names.
Replay replay(const Schedule &schedule, const Costs &costs,
              Transfers transfers = Transfers::Concurrent);

} // namespace titan::schedule
