// Collectives made of point-to-point messages. Every reduction combines the terms of an element in
// the order of the members (Combine.h), so sums have the same bits as in shared memory, whatever
// the pattern of the messages.
//
// Among a few members (kFewMembers), every member sends each other member its data directly. Of n
// members with k on each host, k * (n - k) messages then leave a host. Larger groups use patterns
// in which at most one member of a host talks to the next host, if hosts have consecutive members.
// Messages and bytes that a member sends, for b bytes of each member:
//
//   collective                   pattern   messages         bytes
//   barrier                      tree      log2(n)          1 each
//   broadcast                    tree      at most log2(n)  at most log2(n) * b
//   all-gather up to kTreeBytes  tree      log2(n)          (n - 1) * b
//   all-gather                   ring      n - 1            (n - 1) * b
//   all-reduce up to kTreeBytes  tree      log2(n)          (n - 1) * b
//   all-reduce                   chain     2 a segment      2 * b
//   reduce-scatter of n * b      chain     1 a segment      n * b
//
// log2 is rounded up. The tree of a gather is Bruck's (Bruck, Ho, Kipnis, Upfal and Weathersby,
// IEEE TPDS 8, 1997, section 3); all members then reduce the gathered terms. In a chain, each
// member adds its terms to the sums of the previous member and passes them on, segment by segment.
// The last member has the results and sends them back along the chain, or to their owners. Sums of
// bf16 travel in float, which doubles their bytes. An all-to-all has no pattern with fewer bytes,
// and a permute has one partner.
//
// Messages carry the hash of their call's signature (CallSignature.h), so that a message of one
// call is never received for another.
//
// Reductions receive segments that fit a cache; one segment is reduced while the next one arrives.
// Small tensors of an all-gather are coalesced into one message. In it, each tensor begins at the
// next multiple of `tm::alignment`. The persistent layout has this form already; other tensors are
// packed.
#pragma once

#include "CallSignature.h"
#include "HostGroup.h"

#include <functional>
#include <vector>

namespace titan::rt {

/// Messages in flight. Between two members, messages arrive in the order of sending, and the
/// receiver expects the sender's number of bytes.
class Messages {
public:
  virtual ~Messages() = default;
  /// Start a message and return its number, which counts sends and receives from 0.
  virtual size_t send(const std::byte *data, int64_t bytes, int member) = 0;
  virtual size_t receive(std::byte *data, int64_t bytes, int member) = 0;
  /// Wait until a message has left its buffer, or has arrived in it.
  virtual void awaitSent(size_t number) = 0;
  virtual void awaitReceived(size_t number) = 0;
  /// Waits for all receives and sends.
  virtual void awaitAll() = 0;
};

class PeerGroup : public HostGroup {
public:
  using HostGroup::allGather;
  using HostGroup::allReduce;
  using HostGroup::permute;
  using HostGroup::reduceScatter;

  /// Supports buffers of one row.
  bool supportsUnpacked(std::span<const CollectiveBuffer> buffers) const override;
  void allReduce(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                 Site site) override;
  void allGather(std::span<const CollectiveBuffer> buffers, DType type, Site site) override;
  void reduceScatter(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                     Site site) override;
  void permute(std::span<const CollectiveBuffer> buffers, DType type, Shift shift,
               Site site) override;
  void allToAll(const void *input, void *output, int64_t count, DType type, Site site) override;
  void broadcast(void *data, int64_t count, DType type, int root, Site site) override;
  void barrier(Site site) override;
  int64_t bufferBytes() const override {
    return static_cast<int64_t>(received.capacity() + packed.capacity());
  }

  /// The largest group whose members all send to one another.
  static constexpr int kFewMembers = 8;
  /// The bytes of a member up to which larger groups use a tree.
  static constexpr int64_t kTreeBytes = 4096;

protected:
  PeerGroup(std::vector<int> ranks, int position);

  /// Calls `body` and waits for its messages. Converts errors into a Fault with the call and the
  /// member.
  virtual void withMessages(const CallSignature &call,
                            const std::function<void(Messages &)> &body) = 0;

private:
  /// Consecutive elements of this member's data, and the destination of their reduction, which may
  /// be the elements themselves.
  struct Segment {
    const std::byte *own;
    std::byte *out;
    int64_t count;
  };

  /// Tensors that are gathered in one message.
  struct CoalescedMessage {
    std::span<const CollectiveBuffer> buffers;
    int64_t bytes;  ///< of one member
    int64_t staged; ///< offset in `packed` and, times the group's size, in `received`
  };
  /// Sets `coalescedMessages`, and grows `packed` and `received` for them.
  void coalesce(std::span<const CollectiveBuffer> buffers, int64_t width);
  /// This member's data as one message: in place if it is contiguous, else packed into `packed`.
  const std::byte *getMessage(const CoalescedMessage &coalesced, int64_t width);
  /// Copies the message of `peer` to its destinations.
  static void unpack(const CoalescedMessage &coalesced, const std::byte *message, int peer,
                     int64_t width);

  /// Calls `visit` with each other member. Each member starts with the next one, to balance the
  /// load.
  template <typename Visit> void forEachPeer(Visit visit) const;
  /// The elements of `width` bytes in a segment.
  int64_t segmentElements(int64_t width) const;
  /// Sends elements in segments.
  void sendSegments(Messages &messages, const std::byte *data, int64_t count, int64_t width,
                    int peer) const;
  /// Appends these elements of this member to `segments`.
  void addSegments(const std::byte *own, std::byte *out, int64_t count, int64_t width);
  /// Receives the other members' segments and reduces them.
  void reduceSegments(Messages &messages, DType type, Reduction op);
  void allReduceByPairs(Messages &messages, std::span<const CollectiveBuffer> buffers, DType type,
                        Reduction op);
  void allReduceByChain(Messages &messages, std::span<const CollectiveBuffer> buffers, DType type,
                        Reduction op);
  void reduceScatterByPairs(Messages &messages, std::span<const CollectiveBuffer> buffers,
                            DType type, Reduction op);
  void reduceScatterByChain(Messages &messages, std::span<const CollectiveBuffer> buffers,
                            DType type, Reduction op);
  /// Passes the sums of all segments from the first member to the last, which calls `deliver` with
  /// the number of each segment and its unfinished reduction.
  template <typename Deliver>
  void reduceByChain(Messages &messages, DType type, Reduction op, Deliver deliver);
  /// Gathers `bytes` bytes of every member. Slot i receives the data of the member i positions
  /// later; slot 0 must hold this member's data.
  void gatherByTree(Messages &messages, std::byte *slots, int64_t bytes);
  /// The slot of a member after gatherByTree.
  int getSlot(int member) const { return (member - rank() + size()) % size(); }
  /// The patterns for one message: `slot(m)` is the destination of member m's.
  template <typename Slot>
  void gatherByPairs(Messages &messages, const std::byte *own, int64_t bytes, Slot slot);
  template <typename Slot>
  void gatherByRing(Messages &messages, const std::byte *own, int64_t bytes, Slot slot);
  /// Gathers all tensors as one message, by a tree.
  void gatherWhole(Messages &messages, std::span<const CollectiveBuffer> buffers, int64_t width);
  bool isFew() const { return size() <= kFewMembers; }
  /// All-reduces small tensors: gathers the terms of all members, and reduces them.
  void reduceWhole(Messages &messages, std::span<const CollectiveBuffer> buffers, DType type,
                   Reduction op);

  /// `received` with at least `bytes` bytes. The buffer only grows, so that no step clears it
  /// again.
  std::byte *reserveReceived(int64_t bytes);

  // Reused between calls to avoid allocation.
  std::vector<Segment> segments;
  std::vector<int> owners;      // of segments
  std::vector<size_t> arrivals; // numbers of receives
  std::vector<CoalescedMessage> coalescedMessages;
  std::vector<std::byte> received, packed;
  std::vector<const std::byte *> terms;
};

} // namespace titan::rt
