// Collective communication on raw buffers. A World connects the processes of a run once; a Group is
// an ordered subset of its ranks on which collectives run. Transports hide behind the Group
// interface, so that emitted code and the executor include no LibTorch header: shared memory where
// all processes run on one machine, else c10d's Gloo.
//
// All members of a group call the same operations in the same order. Buffers of one call must not
// overlap except where it says in place. Sums of floating-point numbers are the same bits on every
// member: each element is reduced in one place and then copied.
//
// Errors: Fault. A peer that vanished, or did not come within the timeout, ends the wait; the
// message names this rank, the action, its source line and the group.
#pragma once

#include "RankRecord.h"
#include "base/Error.h"
#include "launch/Launch.h"
#include "titan/runtime/program.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// What a collective is for, in the user's terms: an action ("all_reduce grad of wq") and a source
/// line ("model.titan:14"). Pointers to literals; only read when something fails.
struct Site {
  const char *action = "";
  const char *source = "";
};

/// One of several values of an exchange: `outer` rows, in each of which every member has `block`
/// elements. Where a member has its own alone, they lie one after the other; where all have theirs
/// together, a row has the members' blocks by position.
struct CollectiveBuffer {
  const void *in;
  void *out;
  int64_t outer, block;
};

class Group {
public:
  virtual ~Group() = default;

  /// Position of this process in the group, and the ranks of all members by position.
  int rank() const { return position; }
  int size() const { return static_cast<int>(members.size()); }
  const std::vector<int> &ranks() const { return members; }

  /// In place: data[0, count) becomes the reduction over all members.
  virtual void allReduce(void *data, int64_t count, DType type, Reduction op, Site site) = 0;
  /// output[size * count]: the inputs of all members, one after the other by position.
  virtual void allGather(const void *input, void *output, int64_t count, DType type, Site site) = 0;
  /// input[size * count] is reduced over the members; this one keeps chunk rank() in
  /// output[0, count).
  virtual void reduceScatter(const void *input, void *output, int64_t count, DType type,
                             Reduction op, Site site) = 0;
  /// input[size * count]: chunk i goes to member i; output chunk i came from member i.
  virtual void allToAll(const void *input, void *output, int64_t count, DType type, Site site) = 0;
  /// In place: data of the member at `root` reaches all others.
  virtual void broadcast(void *data, int64_t count, DType type, int root, Site site) = 0;
  virtual void barrier(Site site) = 0;

  /// Several values as one message, where the transport takes these as they lie; else the caller
  /// packs them. Each element is reduced as it would be alone. A reduction over all members is in
  /// place: `in` is `out`.
  virtual bool supportsUnpacked(std::span<const CollectiveBuffer>) const { return false; }
  virtual void allReduce(std::span<const CollectiveBuffer>, DType, Reduction, Site) {}
  virtual void allGather(std::span<const CollectiveBuffer>, DType, Site) {}
  virtual void reduceScatter(std::span<const CollectiveBuffer>, DType, Reduction, Site) {}

  /// For transports that only queue: what follows on the program's queue does not wait for the next
  /// collective, but what follows `waitAsync` on the same channel does.
  virtual void makeNextAsync(int /*channel*/) {}
  virtual void waitAsync(int /*channel*/) {}

protected:
  Group(std::vector<int> members, int position) : members(std::move(members)), position(position) {}

private:
  std::vector<int> members;
  int position;
};

struct CommOptions {
  /// How long a collective waits for its peers. TITAN_COMM_TIMEOUT (seconds) overrides.
  std::chrono::seconds timeout{300};
  /// How long to wait at start-up until all processes are there. TITAN_CONNECT_TIMEOUT (seconds)
  /// overrides; without it TITAN_COMM_TIMEOUT does, from 30 on.
  std::chrono::seconds connectTimeout{300};
  /// Use sockets even between processes of one machine. TITAN_COMM=gloo sets it.
  bool avoidSharedMemory = false;

  /// The defaults, and what the environment sets. Throws UserError where that is no number or word.
  static CommOptions ofEnvironment();
};

class Rendezvous;

class World {
public:
  virtual ~World() = default;

  /// Connects all processes of the run, which agree on `record` (comm/Agreement.h); a process that
  /// is alone needs no network.
  static std::unique_ptr<World> connect(const LaunchInfo &launch,
                                        const CommOptions &options = CommOptions::ofEnvironment(),
                                        RankRecord record = {});

  virtual const LaunchInfo &launch() const = 0;
  virtual const CommOptions &options() const = 0;
  int rank() const { return launch().rank; }
  int size() const { return launch().worldSize; }

  /// The group of these ranks, in this order; made at the first call (by all its members) and kept
  /// as long as the World. This process must be one of them.
  virtual Group &group(const std::vector<int> &ranks) = 0;
  /// What groups of devices are made from as well; null for a process that is alone.
  virtual Rendezvous *rendezvous() = 0;
  /// The group of all ranks.
  Group &worldGroup();
  /// The message of a failure of this rank, with what the run failed of first (comm/RootCause.h).
  /// No group can be used from then on.
  std::string withRootCause(const std::string &message, Fault::Peer peer);
  /// Runs `body` on every rank, which may not communicate there. What one of them finds to be a
  /// user's mistake ends all: it is a shared UserError where all find the same.
  void runCollectively(const std::function<void()> &body);

protected:
  /// Lets go of all groups, so that the other members' waits end.
  virtual void leaveGroups() = 0;

private:
  Group *all = nullptr; // once it was asked for
};

} // namespace titan::rt
