// Collective communication on raw buffers. A World connects the processes of a run; a Group is an
// ordered subset of its ranks on which collectives run. The Group interface hides the transports,
// so that emitted code and the executor include no LibTorch header. The transport is shared memory
// if all processes run on one machine, else c10d's Gloo.
//
// All members of a group call the same operations in the same order. Buffers of one call must not
// overlap unless the operation is in place. Floating-point sums have the same bits on every member,
// because one member reduces an element and the others copy the result.
//
// Errors: Fault. A wait ends if a peer ends or does not call within the timeout. The message names
// this rank, the action, its source line and the group.
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

/// The purpose of a collective in the user's terms: an action ("all_reduce grad of wq") and a
/// source line ("model.titan:14"). Both point to literals and are read only for error messages and
/// profiles.
struct Site {
  const char *action = "";
  const char *source = "";
};

/// One tensor of a coalesced collective: `outer` rows with `block` elements per member. A shard has
/// its rows contiguous. A gathered row has the members' blocks in the order of the group, or in
/// head-tail order the halves of the blocks (ShardOrder). In an all-to-all, the rows of both sides
/// are gathered rows: those of the input have blocks of `block` elements, and the `outerOut` rows
/// of the output have blocks of `blockOut`.
struct CollectiveBuffer {
  const void *in;
  void *out;
  int64_t outer, block;
  int64_t outerOut = 0, blockOut = 0;
  ShardOrder order = ShardOrder::Block; ///< of a gather or scatter
};

/// A permutation of a group: each member sends to the member `offset` positions later. A cyclic
/// shift continues at the other end; otherwise the members at the ends lack a partner.
struct Shift {
  int offset = 0;
  bool isCyclic = true;

  static constexpr int kNobody = -1;
  /// The partners of the member at `position` in a group of `size`, or kNobody.
  int target(int position, int size) const { return wrap(position + offset, size); }
  int source(int position, int size) const { return wrap(position - offset, size); }

private:
  int wrap(int position, int size) const {
    if (isCyclic)
      return (position % size + size) % size;
    return position >= 0 && position < size ? position : kNobody;
  }
};

/// An ordered subset of the ranks, seen by one of its members. Counts are in elements.
class Group {
public:
  virtual ~Group() = default;

  /// The position of this process in the group, and the ranks of all members by position.
  int rank() const { return position; }
  int size() const { return static_cast<int>(members.size()); }
  const std::vector<int> &ranks() const { return members; }
  /// The bytes of all messages over sockets so far. Read it when no call is in progress.
  int64_t messageBytes() const { return sentInMessages; }
  /// The bytes of the buffers that the transport keeps between calls, except in shared memory.
  virtual int64_t bufferBytes() const { return 0; }

  /// In place: data[0, count) becomes the reduction over all members.
  virtual void allReduce(void *data, int64_t count, DType type, Reduction op, Site site) = 0;
  /// output[size * count]: the inputs of all members in the order of the group.
  virtual void allGather(const void *input, void *output, int64_t count, DType type, Site site) = 0;
  /// Reduces input[size * count] over the members; this member receives chunk rank() in
  /// output[0, count).
  virtual void reduceScatter(const void *input, void *output, int64_t count, DType type,
                             Reduction op, Site site) = 0;
  /// Sends chunk i of input[size * count] to member i and receives output chunk i from it.
  virtual void allToAll(const void *input, void *output, int64_t count, DType type, Site site) = 0;
  /// Sends input[0, count) to the target of `shift` and receives output[0, count) from its source.
  /// A member without a target may have no input. Without a source, the output does not change. All
  /// members call it with the same shift. A shift that is not cyclic, in a group of two, is a
  /// message: only then may the source lines of the members differ.
  virtual void permute(const void *input, void *output, int64_t count, DType type, Shift shift,
                       Site site) = 0;
  /// In place: all members receive the data of the member at position `root`.
  virtual void broadcast(void *data, int64_t count, DType type, int root, Site site) = 0;
  virtual void barrier(Site site) = 0;

  /// Coalesced collectives, if the transport supports these buffers; else the caller packs them.
  /// Each element is reduced in the same order as alone. All-reduce is in place: `in` equals `out`.
  virtual bool supportsUnpacked(std::span<const CollectiveBuffer>) const { return false; }
  virtual void allReduce(std::span<const CollectiveBuffer>, DType, Reduction, Site) {}
  virtual void allGather(std::span<const CollectiveBuffer>, DType, Site) {}
  virtual void reduceScatter(std::span<const CollectiveBuffer>, DType, Reduction, Site) {}
  /// Both sides of a permute are shards.
  virtual void permute(std::span<const CollectiveBuffer>, DType, Shift, Site) {}

  /// Ends this group for its members: waits that have begun on any thread fail soon, later ones at
  /// once. For a process that fails while another of its threads waits. Device groups end with
  /// their process.
  virtual void leave() {}

  /// For transports with a queue. After makeNextAsync, the program's stream does not wait for the
  /// next collective; it waits at `waitAsync` on the same channel.
  virtual void makeNextAsync(int /*channel*/) {}
  virtual void waitAsync(int /*channel*/) {}

protected:
  Group(std::vector<int> members, int position) : members(std::move(members)), position(position) {}

  int64_t sentInMessages = 0; // calls of a group do not overlap

private:
  std::vector<int> members;
  int position;
};

struct CommOptions {
  /// How long a collective waits for its peers. TITAN_COMM_TIMEOUT (seconds) overrides.
  std::chrono::seconds timeout{300};
  /// Timeout for the connection of all processes. TITAN_CONNECT_TIMEOUT (seconds) overrides it, or
  /// else TITAN_COMM_TIMEOUT, with 30 as the minimum.
  std::chrono::seconds connectTimeout{300};
  /// Whether to use sockets between processes of one machine. TITAN_COMM=gloo sets it.
  bool avoidSharedMemory = false;

  /// The defaults with the environment's overrides. Throws UserError for invalid values.
  static CommOptions ofEnvironment();
};

class Rendezvous;

/// The connected processes of a run, seen by one of them.
class World {
public:
  virtual ~World() = default;

  /// Connects all processes of the run, which agree on `record` (comm/Agreement.h). A single
  /// process needs no network.
  static std::unique_ptr<World> connect(const LaunchInfo &launch,
                                        const CommOptions &options = CommOptions::ofEnvironment(),
                                        RankRecord record = {});

  virtual const LaunchInfo &launch() const = 0;
  virtual const CommOptions &options() const = 0;
  int rank() const { return launch().rank; }
  int size() const { return launch().worldSize; }

  /// The group of these ranks in this order, which must include this process. All members make the
  /// first call; the World owns the group.
  virtual Group &group(const std::vector<int> &ranks) = 0;
  /// Of all groups: see Group.
  virtual int64_t messageBytes() const { return 0; }
  virtual int64_t bufferBytes() const { return 0; }
  /// The rendezvous of the processes, through which groups of devices connect too; null for a
  /// single process.
  virtual Rendezvous *rendezvous() = 0;
  /// The group of all ranks.
  Group &worldGroup();
  /// The message of this rank's failure with the run's root cause (comm/RootCause.h). Closes all
  /// groups.
  std::string withRootCause(const std::string &message, Fault::Peer peer);
  /// Runs `body` on every rank; `body` must not communicate. If it throws UserError on any rank,
  /// all ranks throw. The error is marked as shared if all ranks found the same.
  void runCollectively(const std::function<void()> &body);

protected:
  /// Closes all groups, so that the other members' waits end.
  virtual void leaveGroups() = 0;

private:
  Group *all = nullptr; // created on demand
};

} // namespace titan::rt
