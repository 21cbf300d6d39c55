#include "base/schedule/Schedule.h"

#include <algorithm>

namespace titan::schedule {

std::vector<int> assignStages(int ranks, int stagesPerRank, Placement placement) {
  std::vector<int> rankOf;
  for (int pass = 0; pass < stagesPerRank; ++pass)
    for (int i = 0; i < ranks; ++i)
      rankOf.push_back(placement == Placement::V && pass % 2 == 1 ? ranks - 1 - i : i);
  return rankOf;
}

void append(Row &row, Action action) {
  appendCell(row, {action}, 0, 1);
}

size_t findEndOfCell(const Row &row, size_t first) {
  size_t end = first;
  while (end < row.size() && row[end].cell == row[first].cell)
    ++end;
  return end;
}

void appendCell(Row &row, const Row &from, size_t first, size_t end) {
  const int cell = row.empty() ? 0 : row.back().cell + 1;
  for (size_t i = first; i < end; ++i) {
    row.push_back(from[i]);
    row.back().cell = cell;
  }
}

bool hasKind(const Schedule &schedule, bool (*property)(Kind)) {
  return std::any_of(schedule.ranks.begin(), schedule.ranks.end(), [&](const Row &row) {
    return std::any_of(row.begin(), row.end(),
                       [&](const Action &action) { return property(action.kind); });
  });
}

} // namespace titan::schedule
