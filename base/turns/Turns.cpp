#include "base/turns/Turns.h"

#include <algorithm>
#include <numeric>

namespace titan {

bool Turn::runsIn(int64_t step) const {
  auto isDue = [&](const Period &period) { return period.isDue(step); };
  return std::all_of(due.begin(), due.end(), isDue) &&
         std::none_of(idle.begin(), idle.end(), isDue);
}

/// After this many steps, the combinations of due periods repeat.
static int64_t getLargestOffset(const std::vector<Period> &periods) {
  int64_t first = 0;
  for (const Period &period : periods)
    first = std::max(first, period.offset);
  return first;
}

std::optional<int64_t> stepsUntilRepetition(const std::vector<Period> &periods) {
  int64_t common = 1;
  for (const Period &period : periods) {
    const int64_t factor = period.every / std::gcd(common, period.every);
    if (factor > kMostSteps / common)
      return std::nullopt;
    common *= factor;
  }
  const int64_t first = getLargestOffset(periods);
  return first <= kMostSteps - common ? std::optional(first + common) : std::nullopt;
}

std::vector<Turn> findTurns(const std::vector<Period> &periods) {
  std::vector<Turn> turns;
  const int64_t steps = *stepsUntilRepetition(periods);
  for (int64_t step = 1; step <= steps; ++step) {
    auto runs = [&](const Turn &turn) { return turn.runsIn(step); };
    if (std::any_of(turns.begin(), turns.end(), runs))
      continue;
    Turn turn;
    for (const Period &period : periods)
      (period.isDue(step) ? turn.due : turn.idle).push_back(period);
    if (!turn.due.empty())
      turns.push_back(std::move(turn));
  }
  return turns;
}

std::optional<int64_t> findIdleStep(const std::vector<Period> &periods) {
  const int64_t steps = *stepsUntilRepetition(periods);
  for (int64_t step = 1; step <= steps; ++step)
    if (std::none_of(periods.begin(), periods.end(),
                     [&](const Period &period) { return period.isDue(step); }))
      return step;
  return std::nullopt;
}

double computeStepFraction(const Turn &turn) {
  std::vector<Period> all = turn.due;
  all.insert(all.end(), turn.idle.begin(), turn.idle.end());
  const int64_t first = getLargestOffset(all), last = *stepsUntilRepetition(all);
  int64_t count = 0;
  for (int64_t step = first + 1; step <= last; ++step)
    count += turn.runsIn(step);
  return static_cast<double>(count) / static_cast<double>(last - first);
}

} // namespace titan
