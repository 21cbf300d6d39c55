// Selects the compute actions of a pipeline schedule.
#include "base/schedule/Passes.h"

namespace titan::schedule {

Schedule selectComputation(const Schedule &schedule) {
  Schedule result = schedule;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const Row &row = schedule.ranks[rank];
    result.ranks[rank].clear();
    for (size_t i = 0, end = 0; i < row.size(); i = end) {
      end = findEndOfCell(row, i);
      if (isCompute(row[i].kind))
        appendCell(result.ranks[rank], row, i, end);
    }
  }
  return result;
}

} // namespace titan::schedule
