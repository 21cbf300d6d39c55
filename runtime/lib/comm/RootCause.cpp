#include "RootCause.h"

#include "Deadline.h"
#include "Rendezvous.h"

#include <charconv>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>

namespace titan::rt {

namespace {

using std::chrono::milliseconds;

/// Ranks that wait for one another fail within kGrace of one another, unless they began to wait at
/// very different times. The error of a process that has ended is already in the store (kEnded).
/// Rank 0 waits for up to kLeaving until other ranks have read errors.
constexpr milliseconds kGrace(1500), kEnded(200), kLeaving(3000);
constexpr size_t kMaxFailureBytes = 4096;

/// "ORDER PEER TEXT" in the store.
struct Failure {
  int64_t order; ///< position in the order of publication
  int peer;      ///< the rank for which it waited; -1: none
  std::string text;
};

std::string encode(const Failure &failure) {
  return fmt::format("{} {} {}", failure.order, failure.peer,
                     failure.text.substr(0, kMaxFailureBytes));
}

std::optional<Failure> decode(const std::string &text) {
  Failure failure{};
  const char *end = text.data() + std::min(text.size(), 2 * kMaxFailureBytes);
  auto order = std::from_chars(text.data(), end, failure.order);
  if (order.ec != std::errc() || order.ptr == end || *order.ptr != ' ')
    return std::nullopt;
  auto peer = std::from_chars(order.ptr + 1, end, failure.peer);
  if (peer.ec != std::errc() || peer.ptr == end || *peer.ptr != ' ')
    return std::nullopt;
  for (const char *c = peer.ptr + 1; c != end; ++c) // untrusted text
    failure.text += static_cast<unsigned char>(*c) < 0x20 ? ' ' : *c;
  return failure;
}

/// The published failures of all ranks, from the view of a failed rank.
class Failures {
public:
  Failures(Rendezvous &store, int rank) : store(store), rank(rank) {}

  /// Publishes the failure of this rank.
  Failure publish(const std::string &message, Fault::Peer peer) {
    Failure own{store.add("failures", 1), peer.rank, message};
    store.publish(getKey(rank), encode(own));
    return own;
  }

  /// The root cause and its rank.
  std::pair<int, Failure> findFirst(const Failure &own, milliseconds grace) {
    std::pair<int, Failure> last{rank, own}, earliest = last;
    std::set<int> seen{rank};
    Deadline deadline(grace);
    for (int next = own.peer; next >= 0; next = last.second.peer) {
      if (!seen.insert(next).second)
        return earliest; // a cycle of waiting ranks
      std::optional<Failure> failure = find(next, deadline);
      if (!failure)
        break;
      last = {next, *failure};
      if (failure->order < earliest.second.order)
        earliest = last;
    }
    return last;
  }

  /// Tells rank 0 that this rank knows the root cause. The store may end with rank 0, so rank 0
  /// waits until all other ranks know it, except one, which may have ended without a message.
  void leave(int worldSize) {
    if (rank != 0) {
      store.add("understood", 1);
      return;
    }
    Deadline deadline(kLeaving);
    while (store.add("understood", 0) < worldSize - 2 && !deadline.isOver())
      std::this_thread::sleep_for(milliseconds(10));
  }

private:
  static std::string getKey(int rank) { return fmt::format("failure/{}", rank); }

  /// The failure of another rank; empty if there is none at the deadline.
  std::optional<Failure> find(int other, Deadline deadline) {
    while (!store.has(getKey(other))) {
      if (deadline.isOver())
        return std::nullopt;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return decode(store.lookup(getKey(other), deadline.left()));
  }

  Rendezvous &store;
  int rank;
};

} // namespace

std::string withRootCause(Rendezvous &store, int rank, int worldSize, const std::string &message,
                          Fault::Peer peer, const std::function<void()> &leaveGroups) {
  try {
    store.setTimeout(kGrace);
    Failures failures(store, rank);
    Failure own = failures.publish(message, peer);
    leaveGroups();
    auto [first, failure] = failures.findFirst(own, peer.hasEnded ? kEnded : kGrace);
    failures.leave(worldSize);
    return first == rank ? message : fmt::format("{}; the first cause: {}", message, failure.text);
  } catch (const std::exception &) {
    if (rank == 0 || peer.rank == 0)
      return message;
    return message + "; the rendezvous of rank 0 or its launcher does not answer either";
  }
}

} // namespace titan::rt
