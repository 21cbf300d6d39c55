// Verification that no ranks wait for one another.
#include "base/schedule/Dataflow.h"
#include "base/schedule/Replay.h"
#include "base/schedule/VerifyChecks.h"

#include <algorithm>

namespace titan::schedule {
namespace {

/// The action at which a rank waits, and the action that it waits for.
struct Wait {
  Position waiting, awaited;
};

bool areSame(Position a, Position b) {
  return a.rank == b.rank && a.index == b.index;
}

/// The cycle of waits in a schedule whose replay does not complete.
class WaitCycle {
public:
  WaitCycle(const Verification &verification, const Replay &replay)
      : verification(verification), replay(replay) {}

  /// The waits of a cycle. The first one is for an action that the order of its rank delays.
  std::vector<Wait> find() const {
    std::vector<size_t> visited;
    size_t rank = 0;
    while (hasFinished(rank))
      ++rank;
    for (; std::find(visited.begin(), visited.end(), rank) == visited.end();
         rank = getWait(rank).awaited.rank)
      visited.push_back(rank);
    visited.erase(visited.begin(), std::find(visited.begin(), visited.end(), rank));
    std::rotate(visited.begin(), std::min_element(visited.begin(), visited.end()), visited.end());
    std::vector<Wait> waits;
    for (size_t one : visited)
      waits.push_back(getWait(one));
    while (areSame(waits[0].awaited, waits[1].waiting))
      std::rotate(waits.begin(), waits.begin() + 1, waits.end());
    return waits;
  }

private:
  bool hasFinished(size_t rank) const {
    return replay.spans[rank].size() == verification.schedule.ranks[rank].size();
  }
  bool hasRun(Position at) const { return at.index < replay.spans[at.rank].size(); }

  Wait getWait(size_t rank) const {
    const Row &row = verification.schedule.ranks[rank];
    const size_t first = replay.spans[rank].size();
    if (isTransfer(row[first].kind))
      return {{rank, first}, *verification.actions.find(getPeer(row[first]))};
    for (size_t i = first; i < findEndOfCell(row, first); ++i)
      for (const Value &value : getReads(row[i], verification.schedule.stages))
        if (Position writer = findWriter(value); !hasRun(writer))
          return {{rank, i}, writer};
    return {{rank, first}, {rank, first}}; // unreachable: the cell would have run
  }

  /// The computation of a value.
  Position findWriter(const Value &value) const {
    const Kind kinds[] = {value.kind == ValueKind::Gradient ? Kind::Backward : Kind::Forward,
                          Kind::Dgrad};
    const Position *writer = verification.actions.find({kinds[0], value.stage, value.microbatch});
    return *(writer ? writer
                    : verification.actions.find({kinds[1], value.stage, value.microbatch}));
  }

  const Verification &verification;
  const Replay &replay;
};

} // namespace

void checkDeadlock(Verification &verification) {
  const Replay times = replay(verification.schedule, Costs(), Transfers::Blocking);
  if (times.isComplete(verification.schedule))
    return;
  const std::vector<Wait> waits = WaitCycle(verification, times).find();
  std::string message = "deadlock: " + verification.describe(waits[0].waiting);
  for (size_t i = 0; i < waits.size(); ++i) {
    if (i > 0)
      message += areSame(waits[i].waiting, waits[i - 1].awaited)
                     ? ", which"
                     : ", behind " + verification.describe(waits[i].waiting) + ", which";
    message += " waits for " + verification.describe(waits[i].awaited);
  }
  verification.add(waits[0].waiting, message,
                   "move `" + toText(verification.at(waits[0].awaited)) + "` before " +
                       verification.describe(waits[1].waiting) +
                       ", or this cell behind what waits for it");
}

} // namespace titan::schedule
