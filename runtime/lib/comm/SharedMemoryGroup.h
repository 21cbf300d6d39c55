// Collectives over shared memory between processes of one machine. Every member writes its data
// into its slot, all meet at a barrier, and every member reads. There are no sockets and no copies
// into buffers of a transport. Sums combine the members in order, so replicas have the same bits.
//
// The tensors of a coalesced collective are written contiguously into the slot, so packing costs no
// additional copy.
//
// Long buffers are split into segments that fit a slot. Segments alternate between the two halves
// of a slot, so that one barrier per segment suffices: before a member overwrites a half, it passes
// a barrier that all members reach after reading this half.
#pragma once

#include "SharedMemory.h"

#include "HostGroup.h"

namespace titan::rt {

class SharedMemoryGroup final : public HostGroup {
public:
  using HostGroup::allGather;
  using HostGroup::allReduce;
  using HostGroup::permute;
  using HostGroup::reduceScatter;

  SharedMemoryGroup(std::vector<int> ranks, int position, std::unique_ptr<SharedMemory> memory,
                    std::chrono::seconds timeout)
      : HostGroup(std::move(ranks), position), memory(std::move(memory)), timeout(timeout),
        terms(size()) {}

  /// The size of a slot for a group of `members`.
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
  void permute(std::span<const CollectiveBuffer> buffers, DType type, Shift shift,
               Site site) override;
  void leave() override { memory->leave(); }

private:
  /// The half of a member's slot for the current segment.
  std::byte *half(int member) const;
  size_t halfBytes() const { return slotBytes(ranks().size()) / 2; }
  /// Waits at the barrier for all members. Throws Fault if that fails or their calls differ.
  void meet(const CallSignature &call);
  /// Reduces `count` elements at byte `offset` of all members' halves into `out`.
  void reduceHalves(std::byte *out, size_t offset, int64_t count, DType type, Reduction op);

  std::unique_ptr<SharedMemory> memory;
  std::chrono::seconds timeout;
  uint64_t segment = 0;                 // number of segments so far, equal on all members
  std::vector<const std::byte *> terms; // reused by reduceHalves
};

} // namespace titan::rt
