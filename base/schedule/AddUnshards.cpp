// Adds UNSHARD and RESHARD around the computation of the stages of a pipeline schedule.
#include "base/schedule/Passes.h"

#include <algorithm>
#include <set>

namespace titan::schedule {
namespace {

/// Adds UNSHARD and RESHARD to one row.
class UnshardAdder {
public:
  UnshardAdder(const Row &row, Residency residency) : row(row), residency(residency) {}

  Row run() {
    for (size_t i = 0, end = 0; i < row.size(); i = end) {
      end = findEndOfCell(row, i);
      const bool computes = isCompute(row[i].kind);
      for (size_t k = i; computes && k < end; ++k)
        if (unsharded.insert(row[k].stage).second)
          append(result, {Kind::Unshard, row[k].stage});
      appendCell(result, row, i, end);
      for (size_t k = i; computes && k < end; ++k)
        if (unsharded.contains(row[k].stage) && !isNeededAfter(i, end, row[k].stage))
          reshard(row[k].stage);
    }
    return std::move(result);
  }

private:
  void reshard(int stage) {
    unsharded.erase(stage);
    append(result, {Kind::Reshard, stage});
  }

  /// Whether a stage that computes in the cell from `first` to `end` stays unsharded.
  bool isNeededAfter(size_t first, size_t end, int stage) const {
    auto computes = [&](const Action &action) { return isCompute(action.kind); };
    auto next = std::find_if(row.begin() + static_cast<std::ptrdiff_t>(end), row.end(), computes);
    if (residency == Residency::Step)
      return std::any_of(next, row.end(), [&](const Action &action) {
        return computes(action) && action.stage == stage;
      });
    const size_t begin = static_cast<size_t>(next - row.begin());
    for (size_t i = begin, last = next == row.end() ? begin : findEndOfCell(row, begin); i < last;
         ++i)
      for (size_t k = first; k < end; ++k)
        if (row[i].stage == stage && row[k].stage == stage &&
            row[i].microbatch == row[k].microbatch)
          return true;
    return false;
  }

  const Row &row;
  const Residency residency;
  std::set<int> unsharded;
  Row result;
};

} // namespace

Schedule addUnshards(const Schedule &schedule, Residency residency) {
  if (hasKind(schedule, [](Kind kind) { return kind == Kind::Unshard || kind == Kind::Reshard; }))
    throw ScheduleError("the schedule has UNSHARD and RESHARD already", "leave them as they are");
  Schedule result = schedule;
  for (Row &row : result.ranks)
    row = UnshardAdder(row, residency).run();
  return result;
}

} // namespace titan::schedule
