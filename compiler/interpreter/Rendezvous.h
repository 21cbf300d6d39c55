//===- Rendezvous.h - Where collectives meet --------------------*- C++ -*-===//
//
// A collective happens when all ranks of its group have come to it. A rank may call several before
// it waits for the first; they happen in the order of its calls, one after the other, as a
// communication thread does them. Real libraries match the ranks' calls by group and order alone,
// so calls that do not belong together meet all the same, and the program hangs or computes
// nonsense. Here they are compared first, and a standstill is found.
//
// Plain data: what meets is a description, so this knows nothing of the IR.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_RENDEZVOUS_H
#define TITAN_COMPILER_INTERPRETER_RENDEZVOUS_H

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace titan::interpreter {

/// A rank's call of a collective.
struct Call {
  std::vector<int64_t> group; ///< in the order in which parts are numbered
  std::string what;           ///< everything that must be equal: operation, element type, size
  std::string position;       ///< for messages: where the rank stands in its program
};

class Rendezvous {
public:
  explicit Rendezvous(int64_t numRanks) : calls(numRanks), finished(numRanks, false) {}

  /// Rank `rank` calls `call`, behind what it called before. Returns an error message where it is
  /// next and another call of that group is next on another rank.
  std::optional<std::string> post(int64_t rank, Call call);

  /// Rank `rank` has come to the end of its program.
  void finish(int64_t rank) { finished[rank] = true; }

  /// True when the next call of `rank` is the next of all ranks of its group.
  bool isComplete(int64_t rank) const;

  bool isWaiting(int64_t rank) const { return !calls[rank].empty(); }
  const Call &getCall(int64_t rank) const { return calls[rank].front(); }

  /// The completed call of `rank` is done on all its ranks. Returns an error message as `post` does
  /// for the calls that are next now.
  std::optional<std::string> release(int64_t rank);

  /// What each rank waits for, once none can go on.
  std::string describeDeadlock() const;

private:
  std::optional<std::string> compare(int64_t rank) const;

  std::vector<std::deque<Call>> calls;
  std::vector<bool> finished;
};

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_RENDEZVOUS_H
