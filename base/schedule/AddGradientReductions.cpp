// Adds REDUCE_GRAD after the last gradient of each stage.
#include "base/schedule/Passes.h"

#include <map>
#include <utility>

namespace titan::schedule {

static bool makesGradient(const Action &action) {
  return action.kind == Kind::Backward || action.kind == Kind::Wgrad;
}

Schedule addGradientReductions(const Schedule &schedule) {
  if (hasKind(schedule, [](Kind kind) { return kind == Kind::ReduceGrad; }))
    throw ScheduleError("the schedule has REDUCE_GRAD already", "leave it as it is");
  Schedule result = schedule;
  for (Row &row : result.ranks) {
    const Row before = std::exchange(row, {});
    std::map<int, size_t> last; // of each stage, the index of the last action that makes a gradient
    for (size_t i = 0; i < before.size(); ++i)
      if (makesGradient(before[i]))
        last[before[i].stage] = i;
    for (size_t i = 0, end = 0; i < before.size(); i = end) {
      end = findEndOfCell(before, i);
      appendCell(row, before, i, end);
      for (size_t k = i; k < end; ++k)
        if (makesGradient(before[k]) && last[before[k].stage] == k)
          append(row, {Kind::ReduceGrad, before[k].stage});
    }
  }
  return result;
}

} // namespace titan::schedule
