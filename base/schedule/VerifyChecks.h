// The checks of the verifier. Each adds what it finds to a list of faults.
#pragma once

#include "base/schedule/Verify.h"

#include <map>
#include <tuple>

namespace titan::schedule {

/// The position of an action in the table.
struct Position {
  size_t rank = 0, index = 0;
};

/// The actions of a schedule by kind, stage and microbatch.
class ActionIndex {
public:
  explicit ActionIndex(const Schedule &schedule);

  /// The first position of an action, on the rank of its stage if it is there; null if the table
  /// does not have it.
  const Position *find(const Action &action) const;

private:
  std::map<std::tuple<Kind, int, int>, Position> positions;
};

/// The input of a check, and the faults that it finds.
struct Verification {
  const Schedule &schedule;
  ActionIndex actions;
  bool hasTransfers;
  std::vector<ScheduleFault> faults = {};

  /// Further faults are dropped, so that a broken table does not flood memory.
  static constexpr size_t mostFaults = 20;
  bool isFull() const { return faults.size() >= mostFaults; }
  void add(Position at, std::string message, std::string remedy);
  void addToRow(size_t rank, std::string message, std::string remedy);
  /// "`0F1` (rank 0, column 3)", with columns from 1.
  std::string describe(Position at) const;
  const Action &at(Position position) const {
    return schedule.ranks[position.rank][position.index];
  }
};

/// Every rank and every stage has actions, and no stage or microbatch has only a few.
void checkShape(Verification &verification);
/// Every action is on the rank of its stage, and there once.
void checkOnce(Verification &verification);
/// Every stage computes every microbatch.
void checkComplete(Verification &verification);
/// Each value that another rank reads is sent and received; no other value is.
void checkTransfers(Verification &verification);
/// Every action follows the actions that compute its inputs.
void checkOrder(Verification &verification);
/// UNSHARD and RESHARD alternate around the computation of a stage; REDUCE_GRAD follows it.
void checkStorage(Verification &verification);
void checkDeadlock(Verification &verification);
void checkMemory(Verification &verification, const MemoryLimit &limit);

} // namespace titan::schedule
