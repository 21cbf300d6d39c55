// GPipe and looped BFS: each rank runs all microbatches of one stage, and then of its next stage.
// GPipe has one stage a rank.
#include "base/schedule/Generators.h"
#include "base/schedule/RowBuilder.h"

namespace titan::schedule {

Schedule generateBreadthFirst(const Sizes &sizes) {
  const auto [ranks, stagesPerRank, microbatches] = sizes;
  Schedule schedule{ranks * stagesPerRank,
                    microbatches,
                    assignStages(ranks, stagesPerRank, Placement::Looped),
                    {}};
  for (int rank = 0; rank < ranks; ++rank) {
    RowBuilder row;
    for (int stage = rank; stage < schedule.stages; stage += ranks)
      for (int i = 0; i < microbatches; ++i)
        row.forward(stage);
    for (int stage = schedule.stages - ranks + rank; stage >= 0; stage -= ranks)
      for (int i = 0; i < microbatches; ++i)
        row.backward(stage);
    schedule.ranks.push_back(row.take());
  }
  return schedule;
}

} // namespace titan::schedule
