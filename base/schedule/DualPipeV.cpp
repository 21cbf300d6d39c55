// DualPipeV: DualPipe (DeepSeek-V3, arXiv 2412.19437, section 3.2.1) cut in half, so that each rank
// has two stages in the form of a V and parameters are not duplicated. In the steady state the
// forward pass of one stage overlaps the backward pass of the other one, which hides the
// all-to-alls of experts.
//
// Source: the eight steps of dualpipev.py in github.com/deepseek-ai/DualPipe.
#include "base/schedule/Generators.h"
#include "base/schedule/RowBuilder.h"

namespace titan::schedule {
namespace {

/// The row of one rank. `down` is its stage in the first half of the V, `up` that in the second.
class DualPipeV {
public:
  DualPipeV(const Sizes &sizes, int rank)
      : rank(rank), after(sizes.ranks - 1 - rank), down(rank), up(2 * sizes.ranks - 1 - rank),
        overlapped(sizes.microbatches - 2 * sizes.ranks + rank + 1) {}

  Row make() {
    fill();
    steadyState();
    drain();
    return row.take();
  }

private:
  void fill() {
    for (int i = 0; i < 2 * after; ++i)
      row.forward(down);
    for (int i = 0; i < rank + 1; ++i) {
      row.forward(down);
      row.forward(up);
    }
    for (int i = 0; i < after; ++i) {
      row.dgrad(up);
      row.wgrad();
      row.forward(up);
    }
  }

  void steadyState() {
    for (int i = 0; i < overlapped; ++i) {
      if (i == 0 && after == 0) { // the last rank starts its backward pass earlier without overlap
        row.forward(down);
        row.backward(up);
      } else {
        row.overlap(down, up);
      }
      row.overlap(up, down);
    }
    for (int i = 0; i < after; ++i) {
      row.backward(up);
      row.overlap(up, down);
    }
  }

  /// The second half of the last backward passes leaves its wgrads to the end.
  void drain() {
    for (int i = 0; i < 2 * (rank + 1); ++i)
      backward(i % 2 == 0 ? up : down, i > rank);
    for (int i = 0; i < after; ++i) {
      row.wgrad();
      backward(down, true);
    }
    while (row.pendingWgrads() > 0)
      row.wgrad();
  }
  void backward(int stage, bool isSplit) { isSplit ? row.dgrad(stage) : row.backward(stage); }

  RowBuilder row;
  const int rank;
  const int after; ///< ranks after this one
  const int down, up;
  const int overlapped; ///< microbatches whose passes overlap in the steady state
};

} // namespace

Schedule generateDualPipeV(const Sizes &sizes) {
  if (sizes.microbatches < 2 * sizes.ranks)
    throw ScheduleError("dualpipev on " + std::to_string(sizes.ranks) + " ranks needs at least " +
                            std::to_string(2 * sizes.ranks) + " microbatches, not " +
                            std::to_string(sizes.microbatches),
                        "take " + std::to_string(2 * sizes.ranks) +
                            " microbatches or more, or zbv, which takes any number");
  Schedule schedule{
      2 * sizes.ranks, sizes.microbatches, assignStages(sizes.ranks, 2, Placement::V), {}};
  for (int rank = 0; rank < sizes.ranks; ++rank)
    schedule.ranks.push_back(DualPipeV(sizes, rank).make());
  return schedule;
}

} // namespace titan::schedule
