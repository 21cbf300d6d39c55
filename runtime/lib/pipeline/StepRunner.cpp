#include "StepRunner.h"

namespace titan::rt {

void runStep(const RankPlan &plan, StageMessages &messages,
             const std::function<void(const PlannedCall &)> &run) {
  auto startAll = [&](const std::vector<int> &numbers) {
    for (int number : numbers)
      messages.start(plan.messages[static_cast<size_t>(number)], number);
  };
  auto finishAll = [&](const std::vector<int> &numbers) {
    for (int number : numbers)
      messages.finish(number);
  };
  for (const PlannedCall &call : plan.calls) {
    startAll(call.receives);
    finishAll(call.waits);
    run(call);
    startAll(call.sends);
  }
  finishAll(plan.lastWaits);
}

} // namespace titan::rt
