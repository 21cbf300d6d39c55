//===- Rendezvous.h - Matches the collectives of ranks ----------*- C++ -*-===//
//
// A collective happens when all ranks of its group have called it. A rank may call several before
// it waits for the first. They happen in the order of its calls, one after the other, as on a
// communication thread. Communication libraries match calls by group and order only: with wrong
// calls a program hangs or computes nonsense. The interpreter compares the calls and detects
// deadlocks.
//
// Plain data: a call is a description, independent of the IR.
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
  std::vector<int64_t> group; ///< in the order of the shards
  std::string what;           ///< must be equal on all ranks: operation, element type, size
  std::string position;       ///< of the rank in its program, for messages
};

class Rendezvous {
public:
  explicit Rendezvous(int64_t numRanks) : calls(numRanks), finished(numRanks, false) {}

  /// Appends `call` to the calls of `rank`. Returns an error message if the next calls of its group
  /// differ.
  std::optional<std::string> post(int64_t rank, Call call);

  /// Rank `rank` has reached the end of its program.
  void finish(int64_t rank) { finished[rank] = true; }

  /// Whether the next call of `rank` is the next call of all ranks in its group.
  bool isComplete(int64_t rank) const;

  bool isWaiting(int64_t rank) const { return !calls[rank].empty(); }
  const Call &getCall(int64_t rank) const { return calls[rank].front(); }

  /// Removes the completed call of `rank` on all its ranks. Returns an error message like post()
  /// about the next calls.
  std::optional<std::string> release(int64_t rank);

  /// Lists what each rank waits for in a deadlock.
  std::string describeDeadlock() const;

private:
  std::optional<std::string> compare(int64_t rank) const;

  std::vector<std::deque<Call>> calls;
  std::vector<bool> finished;
};

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_RENDEZVOUS_H
