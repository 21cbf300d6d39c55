// Collectives made of point-to-point messages. Every member sends each other member its data
// directly from the source buffer to the destination buffer. No member sends more bytes than in a
// ring. The member that reduces an element combines all terms in the order of the members
// (Combine.h), so sums have the same bits as in shared memory.
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
  virtual void send(const std::byte *data, int64_t bytes, int member) = 0;
  virtual void receive(std::byte *data, int64_t bytes, int member) = 0;
  /// Waits for the first `count` receives.
  virtual void awaitReceived(size_t count) = 0;
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
  void coalesce(std::span<const CollectiveBuffer> buffers, int64_t width);
  /// This member's data as one message: in place if it is contiguous, else packed into `packed`.
  const std::byte *getMessage(const CoalescedMessage &coalesced, int64_t width);
  /// Copies the message of `peer` to its destinations.
  static void unpack(const CoalescedMessage &coalesced, const std::byte *message, int peer,
                     int64_t width);

  /// Calls `visit` with each other member. Each member starts with the next one, to balance the
  /// load.
  template <typename Visit> void forEachPeer(Visit visit) const;
  int64_t segmentElements(int64_t width) const;
  /// Sends elements in segments.
  void sendSegments(Messages &messages, const std::byte *data, int64_t count, int64_t width,
                    int peer) const;
  void addSegments(const std::byte *own, std::byte *out, int64_t count, int64_t width);
  /// Receives the other members' segments and reduces them.
  void reduceSegments(Messages &messages, DType type, Reduction op);
  void reduceWhole(Messages &messages, std::span<const CollectiveBuffer> buffers, DType type,
                   Reduction op);

  /// `received` with at least `bytes` bytes. The buffer only grows, so that no step clears it
  /// again.
  std::byte *receive(int64_t bytes);

  // Reused between calls to avoid allocation.
  std::vector<Segment> segments;
  std::vector<CoalescedMessage> coalescedMessages;
  std::vector<std::byte> received, packed;
  std::vector<const std::byte *> terms;
};

} // namespace titan::rt
