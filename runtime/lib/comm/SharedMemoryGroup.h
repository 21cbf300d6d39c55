// Collectives between processes of one machine through shared memory: every member writes what the
// others need into its slot, all meet, everyone reads. No sockets, no copies into a transport's
// buffers, and sums are made in the order of the members, so replicas have the same bits.
//
// Several values are written behind each other, as one long buffer, and read from there to where
// they belong, so packing costs nothing.
//
// Long buffers go in pieces that fit a slot. A slot has two halves that pieces use in turn, so
// that one barrier a piece is enough: who writes a half for the next but one piece has passed a
// barrier that everybody reaches only after reading it.
#pragma once

#include "SharedMemory.h"

#include "HostGroup.h"

namespace titan::rt {

class SharedMemoryGroup final : public HostGroup {
public:
  using HostGroup::allGather;
  using HostGroup::allReduce;
  using HostGroup::reduceScatter;

  SharedMemoryGroup(std::vector<int> ranks, int position, std::unique_ptr<SharedMemory> memory,
                    std::chrono::seconds timeout)
      : HostGroup(std::move(ranks), position), memory(std::move(memory)), timeout(timeout),
        terms(size()) {}

  /// Bytes of a slot for a group of so many members.
  static size_t slotBytes(size_t members);

  void allToAll(const void *input, void *output, int64_t count, DType type, Site site) override;
  void broadcast(void *data, int64_t count, DType type, int root, Site site) override;
  void barrier(Site site) override;

  bool supportsUnpacked(std::span<const CollectiveBuffer>) const override { return true; }
  void allReduce(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                 Site site) override;
  void allGather(std::span<const CollectiveBuffer> buffers, DType type, Site site) override;
  void reduceScatter(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                     Site site) override;

private:
  /// The half of a member's slot that the present piece uses.
  std::byte *half(int member) const;
  size_t halfBytes() const { return slotBytes(ranks().size()) / 2; }
  void meet(const CallSignature &call);
  /// out = the reduction over all members of `count` elements at byte `offset` of their halves.
  void reduceHalves(std::byte *out, size_t offset, int64_t count, DType type, Reduction op);

  std::unique_ptr<SharedMemory> memory;
  std::chrono::seconds timeout;
  uint64_t segment = 0;                 // counted alike by all members
  std::vector<const std::byte *> terms; // reduceHalves's
};

} // namespace titan::rt
