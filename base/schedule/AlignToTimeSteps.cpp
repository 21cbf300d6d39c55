// Moves the actions of a pipeline schedule to the columns of their time steps.
#include "base/schedule/Passes.h"
#include "base/schedule/Replay.h"

#include <cmath>

namespace titan::schedule {

Schedule alignToTimeSteps(const Schedule &schedule) {
  if (hasKind(schedule, [](Kind kind) { return !isCompute(kind); }))
    throw ScheduleError("only a schedule of compute actions has time steps",
                        "align it before other actions are added");
  // One step for F, B, I and W, and for two actions that overlap.
  Costs costs{.stages = {{.backward = 1}}, .overlap = 0.5};
  const Replay times = replay(schedule, costs);
  Schedule result = schedule;
  for (size_t rank = 0; rank < result.ranks.size(); ++rank)
    for (size_t i = 0; i < result.ranks[rank].size(); ++i)
      result.ranks[rank][i].cell = static_cast<int>(std::lround(times.spans[rank][i].start));
  return result;
}

} // namespace titan::schedule
