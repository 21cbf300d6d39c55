// Collectives made of messages between two members each: every member sends every other what that
// one needs, straight from where it lies to where it belongs. No member sends more bytes than in a
// ring, and who reduces an element has all members' terms of it, which it takes
// in their order (Combine.h): sums have the bits that they have in shared memory.
//
// Messages carry their call's signature (CallSignature.h), so that what one member sends for one
// call never passes for what another one waits for in a different call.
//
// What is received to be reduced comes in segments that fit a cache; while one is reduced the next
// is under way. Small values that are gathered go together, as one message: as they lie where they
// are stored by block (each at the next multiple of `tm::alignment` behind the one before), else
// packed like that.
#pragma once

#include "CallSignature.h"
#include "HostGroup.h"

#include <functional>
#include <vector>

namespace titan::rt {

/// Messages that are under way at the same time. Between two members they arrive in the order in
/// which they were sent, and what one sends another receives in as many bytes.
class Messages {
public:
  virtual ~Messages() = default;
  virtual void send(const std::byte *data, int64_t bytes, int member) = 0;
  virtual void receive(std::byte *data, int64_t bytes, int member) = 0;
  /// Returns when the first `count` that were to be received are here.
  virtual void awaitReceived(size_t count) = 0;
  /// Returns when all that was sent may be overwritten and all that was to be received is here.
  virtual void awaitAll() = 0;
};

class PeerGroup : public HostGroup {
public:
  using HostGroup::allGather;
  using HostGroup::allReduce;
  using HostGroup::reduceScatter;

  /// Values whose blocks of a member are one stretch.
  bool supportsUnpacked(std::span<const CollectiveBuffer> buffers) const override;
  void allReduce(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                 Site site) override;
  void allGather(std::span<const CollectiveBuffer> buffers, DType type, Site site) override;
  void reduceScatter(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                     Site site) override;
  void allToAll(const void *input, void *output, int64_t count, DType type, Site site) override;
  void broadcast(void *data, int64_t count, DType type, int root, Site site) override;
  void barrier(Site site) override;

protected:
  PeerGroup(std::vector<int> ranks, int position);

  /// Calls `body` and waits for the messages that it leaves. What fails becomes a Fault that names
  /// the call and the member whose message it was.
  virtual void withMessages(const CallSignature &call,
                            const std::function<void(Messages &)> &body) = 0;

private:
  /// Consecutive elements of this member's, and where their reduction goes: the elements
  /// themselves, or apart from them.
  struct Segment {
    const std::byte *own;
    std::byte *out;
    int64_t count;
  };

  /// Values that are gathered as one message, in which each begins at such a multiple.
  struct CoalescedMessage {
    std::span<const CollectiveBuffer> buffers;
    int64_t bytes;  ///< of one member
    int64_t staged; ///< where it begins among what is not received where it belongs
  };
  void coalesce(std::span<const CollectiveBuffer> buffers, int64_t width);
  /// Where a bundle of this member's lies as a message: where it is stored, or in `packed`.
  const std::byte *getMessage(const CoalescedMessage &coalesced, int64_t width);
  /// Copies what came of `peer` to where it belongs.
  static void unpack(const CoalescedMessage &coalesced, const std::byte *message, int peer,
                     int64_t width);

  /// Calls `visit` with every other member, beginning with the next, so that not all send to one.
  template <typename Visit> void forEachPeer(Visit visit) const;
  int64_t segmentElements(int64_t width) const;
  /// Sends elements in the segments in which they are received.
  void sendSegments(Messages &messages, const std::byte *data, int64_t count, int64_t width,
                    int peer) const;
  void addSegments(const std::byte *own, std::byte *out, int64_t count, int64_t width);
  /// Receives what the others have of the segments and reduces them.
  void reduceSegments(Messages &messages, DType type, Reduction op);
  void reduceWhole(Messages &messages, std::span<const CollectiveBuffer> buffers, DType type,
                   Reduction op);

  /// `received`, of so many bytes at least: it only grows, so that no step clears it again.
  std::byte *receive(int64_t bytes);

  // Kept between calls, so that these grow no more.
  std::vector<Segment> segments;
  std::vector<CoalescedMessage> coalescedMessages;
  std::vector<std::byte> received, packed;
  std::vector<const std::byte *> terms;
};

} // namespace titan::rt
