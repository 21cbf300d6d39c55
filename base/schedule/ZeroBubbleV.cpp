// ZB-V (Qi et al., arXiv 2401.10241, section 6): separate wgrads, and two stages a rank in the form
// of a V, so that the last stage is on the first rank and its backward passes start early. The
// order is the paper's for equal times of F, I and W, and does not depend on the times.
#include "base/schedule/Generators.h"
#include "base/schedule/RowBuilder.h"

#include <algorithm>

namespace titan::schedule {
namespace {

/// The row of one rank. `down` is its stage in the first half of the V, `up` that in the second.
class ZeroBubbleV {
public:
  ZeroBubbleV(const Sizes &sizes, int rank)
      : rank(rank), ranks(sizes.ranks), down(rank), up(2 * sizes.ranks - 1 - rank),
        microbatches(std::max(sizes.microbatches, 2 * sizes.ranks - 1)) {}

  Row make() {
    warmUp();
    while (upForwards < microbatches)
      steadyState();
    coolDown();
    return row.take();
  }

private:
  void forwardDown() {
    row.forward(down);
    ++downForwards;
  }
  void forwardUp() {
    row.forward(up);
    ++upForwards;
  }
  void backward(int stage) {
    row.dgrad(stage);
    row.wgrad(stage);
  }

  void warmUp() {
    for (int i = 0; i < 2 * (ranks - rank) - 1; ++i)
      forwardDown();
    for (int i = 0; i < rank; ++i) {
      forwardUp();
      forwardDown();
    }
    for (int i = 0; i < ranks - rank; ++i) {
      forwardUp();
      backward(up);
    }
  }
  void steadyState() {
    if (downForwards < microbatches)
      forwardDown();
    backward(down);
    forwardUp();
    backward(up);
  }
  void coolDown() {
    for (int i = 0; i < rank; ++i) {
      row.dgrad(down);
      row.dgrad(up);
    }
    for (int i = 0; i < ranks - rank; ++i)
      backward(down);
    for (int i = 0; i < rank; ++i)
      row.wgrad(up);
    for (int i = 0; i < rank; ++i)
      row.wgrad(down);
  }

  RowBuilder row; ///< an action is of the next microbatch of its stage and kind
  const int rank, ranks, down, up;
  const int microbatches; ///< enough to fill the pipeline
  int downForwards = 0, upForwards = 0;
};

} // namespace

Schedule generateZeroBubbleV(const Sizes &sizes) {
  Schedule schedule{
      2 * sizes.ranks, sizes.microbatches, assignStages(sizes.ranks, 2, Placement::V), {}};
  for (int rank = 0; rank < sizes.ranks; ++rank) {
    // Too few microbatches run the schedule of a full pipeline without the missing ones.
    Row row;
    for (const Action &action : ZeroBubbleV(sizes, rank).make())
      if (action.microbatch < sizes.microbatches)
        append(row, action);
    schedule.ranks.push_back(std::move(row));
  }
  return schedule;
}

} // namespace titan::schedule
