#include "base/schedule/Verify.h"
#include "base/schedule/VerifyChecks.h"

#include <algorithm>

namespace titan::schedule {

ActionIndex::ActionIndex(const Schedule &schedule) {
  for (bool isMisplaced : {false, true})
    for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
      for (size_t i = 0; i < schedule.ranks[rank].size(); ++i) {
        const auto [kind, stage, microbatch, cell] = schedule.ranks[rank][i];
        if ((schedule.getRankOfStage(stage) != static_cast<int>(rank)) == isMisplaced)
          positions.try_emplace({kind, stage, microbatch}, Position{rank, i});
      }
}

const Position *ActionIndex::find(const Action &action) const {
  auto found = positions.find({action.kind, action.stage, action.microbatch});
  return found == positions.end() ? nullptr : &found->second;
}

void Verification::add(Position position, std::string message, std::string remedy) {
  if (!isFull())
    faults.push_back({static_cast<int>(position.rank), at(position).cell, std::move(message),
                      std::move(remedy)});
}

void Verification::addToRow(size_t rank, std::string message, std::string remedy) {
  if (!isFull())
    faults.push_back({static_cast<int>(rank), -1, std::move(message), std::move(remedy)});
}

std::string Verification::describe(Position position) const {
  return "`" + toText(at(position)) + "` (rank " + std::to_string(position.rank) + ", column " +
         std::to_string(at(position).cell + 1) + ")";
}

std::vector<ScheduleFault> verify(const Schedule &schedule,
                                  const std::optional<MemoryLimit> &limit) {
  Verification verification{schedule, ActionIndex(schedule), hasKind(schedule, isTransfer)};
  // Each group of checks relies on the groups before it.
  using Check = void (*)(Verification &);
  const std::vector<std::vector<Check>> groups = {{checkShape},
                                                  {checkOnce, checkComplete},
                                                  {checkTransfers},
                                                  {checkOrder, checkStorage},
                                                  {checkDeadlock}};
  std::vector<ScheduleFault> &faults = verification.faults;
  for (const std::vector<Check> &group : groups) {
    for (Check check : group)
      check(verification);
    if (!faults.empty())
      break;
  }
  if (faults.empty() && limit)
    checkMemory(verification, *limit);
  std::stable_sort(faults.begin(), faults.end(),
                   [](const ScheduleFault &a, const ScheduleFault &b) {
                     return std::pair(a.rank, a.cell) < std::pair(b.rank, b.cell);
                   });
  return faults;
}

} // namespace titan::schedule
