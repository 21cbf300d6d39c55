// Executes one step of a pipelined program on one rank: the calls and messages that base/pipeline
// has planned.
#pragma once

#include "base/pipeline/RankPlan.h"

#include <functional>

namespace titan::rt {

using pipeline::Message, pipeline::PlannedCall, pipeline::RankPlan;

/// The messages between the stages, for one rank. Messages on one route are in the order of their
/// starts.
class StageMessages {
public:
  virtual ~StageMessages() = default;
  /// Starts message `number` of a plan. Until it ends, nobody writes the value of a send or
  /// accesses that of a receive.
  virtual void start(const Message &message, int number) = 0;
  /// Waits for the end of a message that has started.
  virtual void finish(int number) = 0;
};

/// Runs one step. `run` executes the fragment of a call on its slots.
void runStep(const RankPlan &plan, StageMessages &messages,
             const std::function<void(const PlannedCall &)> &run);

} // namespace titan::rt
