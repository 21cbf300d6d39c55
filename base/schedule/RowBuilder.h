// Builds the row of one rank in a pipeline schedule: the rank's actions in order. Each stage
// processes its microbatches in order, so callers name the kind of an action and its stage only.
#pragma once

#include "base/schedule/Schedule.h"

#include <algorithm>
#include <deque>
#include <map>

namespace titan::schedule {

class RowBuilder {
public:
  /// The forward pass of the stage's next microbatch.
  void forward(int stage) { append(row, takeForward(stage)); }
  /// The backward pass of the stage's next microbatch, in one action.
  void backward(int stage) { append(row, takeBackward(Kind::Backward, stage)); }
  /// The dgrad of the stage's next microbatch; its wgrad is pending from then on.
  void dgrad(int stage) {
    append(row, takeBackward(Kind::Dgrad, stage));
    pending.push_back(row.back());
  }
  /// The oldest pending wgrad of a stage, if there is one.
  void wgrad(int stage) {
    auto isOfStage = [&](const Action &dgrad) { return dgrad.stage == stage; };
    runPending(std::find_if(pending.begin(), pending.end(), isOfStage));
  }
  /// The oldest pending wgrad of all stages, if there is one.
  void wgrad() { runPending(pending.begin()); }
  /// A forward pass and a backward pass in one cell.
  void overlap(int forwardStage, int backwardStage) {
    forward(forwardStage);
    const int cell = row.back().cell;
    backward(backwardStage);
    row.back().cell = cell;
  }

  /// The number of pending wgrads of all stages.
  size_t pendingWgrads() const { return pending.size(); }
  Row take() { return std::move(row); }

private:
  Action takeForward(int stage) { return {Kind::Forward, stage, forwards[stage]++}; }
  Action takeBackward(Kind kind, int stage) { return {kind, stage, backwards[stage]++}; }
  void runPending(std::deque<Action>::iterator dgrad) {
    if (dgrad == pending.end())
      return;
    append(row, {Kind::Wgrad, dgrad->stage, dgrad->microbatch});
    pending.erase(dgrad);
  }

  Row row;
  std::map<int, int> forwards, backwards; ///< the next microbatch of each stage
  std::deque<Action> pending;             ///< dgrads whose wgrad has not run
};

} // namespace titan::schedule
