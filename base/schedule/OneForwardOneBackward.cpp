// The family of 1F1B. A rank runs some forward passes (the warm-up), then one forward and one
// backward pass in turn, then the remaining backward passes.
//
// Microbatches are processed in rounds: a rank runs the microbatches of a round on its first stage,
// then on its second stage, and so on. Megatron-LM (arXiv 2104.04473, section 2.2) requires rounds
// of as many microbatches as ranks; torch.distributed.pipelining, equal rounds. Here rounds may
// differ by one microbatch, larger rounds first, so that every number of microbatches is legal. The
// bubble stays (ranks - 1) / stagesPerRank microbatches.
//
// With separate wgrads (arXiv 2401.10241, section 2.2), rank r delays its wgrads by r microbatches:
// later ranks have fewer warm-up passes, so that every rank stashes as much as the first one. The
// wgrads of the last microbatches fill the time in which 1F1B waits for gradients.
#include "base/schedule/Generators.h"
#include "base/schedule/RowBuilder.h"

#include <algorithm>

namespace titan::schedule {
namespace {

struct Family {
  int warmupPerRank; ///< warm-up passes of a rank minus those of the next rank
  bool splitsBackward;
};

/// For each forward pass of a rank, in order: which of the rank's stages runs it, counted from 0.
std::vector<int> listForwards(const Sizes &sizes) {
  const int rounds = std::max(1, sizes.microbatches / sizes.ranks);
  std::vector<int> order;
  for (int round = 0; round < rounds; ++round) {
    const int size = sizes.microbatches / rounds + (round < sizes.microbatches % rounds ? 1 : 0);
    for (int localStage = 0; localStage < sizes.stagesPerRank; ++localStage)
      order.insert(order.end(), static_cast<size_t>(size), localStage);
  }
  return order;
}

/// The number of microbatches of the first round.
int getFirstRoundSize(const Sizes &sizes) {
  const int rounds = std::max(1, sizes.microbatches / sizes.ranks);
  return (sizes.microbatches + rounds - 1) / rounds;
}

Row makeRow(const Sizes &sizes, const Family &family, int rank) {
  const std::vector<int> order = listForwards(sizes);
  const int passes = static_cast<int>(order.size());
  const int warmup = std::min(passes, (sizes.stagesPerRank - 1) * getFirstRoundSize(sizes) +
                                          family.warmupPerRank * (sizes.ranks - 1 - rank));
  auto getStage = [&](int localStage) { return localStage * sizes.ranks + rank; };
  RowBuilder row;
  for (int i = 0; i < passes + warmup; ++i) {
    if (i < passes)
      row.forward(getStage(order[static_cast<size_t>(i)]));
    if (i < warmup)
      continue;
    const int stage = getStage(sizes.stagesPerRank - 1 - order[static_cast<size_t>(i - warmup)]);
    family.splitsBackward ? row.dgrad(stage) : row.backward(stage);
    if (row.pendingWgrads() > static_cast<size_t>(rank))
      row.wgrad();
  }
  while (row.pendingWgrads() > 0)
    row.wgrad();
  return row.take();
}

Schedule make(const Sizes &sizes, const Family &family) {
  Schedule schedule{sizes.ranks * sizes.stagesPerRank,
                    sizes.microbatches,
                    assignStages(sizes.ranks, sizes.stagesPerRank, Placement::Looped),
                    {}};
  for (int rank = 0; rank < sizes.ranks; ++rank)
    schedule.ranks.push_back(makeRow(sizes, family, rank));
  return schedule;
}

} // namespace

Schedule generateOneForwardOneBackward(const Sizes &sizes) {
  return make(sizes, {.warmupPerRank = 1, .splitsBackward = false});
}

Schedule generateInterleaved(const Sizes &sizes) {
  return make(sizes, {.warmupPerRank = 2, .splitsBackward = false});
}

Schedule generateZeroBubbleH1(const Sizes &sizes) {
  return make(sizes, {.warmupPerRank = 1, .splitsBackward = true});
}

Schedule generateInterleavedZeroBubble(const Sizes &sizes) {
  return make(sizes, {.warmupPerRank = 1, .splitsBackward = true});
}

} // namespace titan::schedule
