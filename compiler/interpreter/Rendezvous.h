// Matches the collectives and messages of ranks.
//
// A collective happens when all ranks of its group have called it, a message when both of its ranks
// have. A rank may call several collectives before it waits for the first one. Collectives of one
// group happen in the order of the calls, as on the lane of the group at run time. Groups do not
// wait for each other.
//
// Communication libraries match calls by group and order only: with wrong calls a program hangs or
// computes nonsense. The interpreter compares the calls and detects deadlocks.
//
// Plain data: a call is a description, independent of the IR.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace titan::interpreter {

/// The calls that happen one after the other: of a set of ranks, or of messages from one rank to
/// another.
struct Lane {
  std::vector<int64_t> ranks; ///< sorted, or sender and receiver
  bool isForMessages;
  bool operator==(const Lane &) const = default;
};

/// A rank's call of a collective, or its end of a message.
struct Call {
  std::vector<int64_t> group;  ///< in the order of the shards, or sender and receiver
  std::string signature;       ///< must be equal on all ranks: operation, element type, size
  std::string position;        ///< of the rank in its program, for messages
  std::string messageEnd = {}; ///< the operation of this end of a message; empty: a collective

  Lane getLane() const;
};

class Rendezvous {
public:
  explicit Rendezvous(int64_t numRanks) : calls(numRanks), finished(numRanks, false) {}

  /// Appends `call` to the calls of `rank`. Returns an error message if the next calls of its group
  /// differ.
  std::optional<std::string> post(int64_t rank, Call call);

  /// Rank `rank` has reached the end of its program.
  void finish(int64_t rank) { finished[rank] = true; }

  /// A lane in which the next call of `rank` is the next call of all ranks of the group.
  std::optional<Lane> findComplete(int64_t rank) const;

  bool isWaiting(int64_t rank) const { return !calls[rank].empty(); }

  /// Removes the completed calls of a lane. Returns an error message like post() about the next
  /// calls.
  std::optional<std::string> release(const Lane &lane);

  /// Lists what each rank waits for in a deadlock.
  std::string describeDeadlock() const;

private:
  /// The next call of `rank` in a lane; null if there is none.
  const Call *getNext(int64_t rank, const Lane &lane) const;
  /// An error message if the next calls of `rank` and of another rank in the lane differ.
  std::optional<std::string> compare(int64_t rank, const Lane &lane) const;

  std::vector<std::deque<Call>> calls; ///< of each rank, in the order of its program
  std::vector<bool> finished;
};

} // namespace titan::interpreter
