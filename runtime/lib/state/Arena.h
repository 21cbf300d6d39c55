// The single memory block of a rank's program. All offsets are fixed before the first step:
// persistent allocations in their layout (PersistentLayout.h), then one region for transient
// allocations. The functions share that region, because only one function runs at a time. Pages are
// zero at their first access. In a pipeline, the block contains only the allocations that the
// rank's stages use. Allocations that `offload` names are in a second block, in memory of the host.
// Their addresses are offsets from the first block as well.
#pragma once

#include "device/Device.h"
#include "pipeline/ProgramPipelines.h"

#include "titan/runtime/program.h"

#include <optional>
#include <vector>

namespace titan::rt {

class Arena {
public:
  Arena(const Program &program, const Pipelines &pipelines, Device &device);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  std::byte *base() const { return memory; }
  int64_t bytes() const { return size; }
  int64_t persistentBytes() const { return persistentEnd; }
  /// The bytes of the block in memory of the host; 0 if there is none.
  int64_t hostBytes() const { return hostSize; }
  /// The bytes of both blocks whose pages were accessed; none if the device cannot tell.
  std::optional<int64_t> touchedBytes() const;
  /// Whether the rank has a persistent allocation.
  bool has(size_t persistent) const { return persistentOffsets[persistent] != kAbsent; }
  /// Byte offsets from base(); for an allocation in a bucket, the offset of its first slot; kAbsent
  /// for one that the rank does not have.
  const std::vector<int64_t> &persistent() const { return persistentOffsets; }
  /// Bytes between consecutive slots of a persistent allocation in a bucket; 0 for others.
  int64_t slotStride(size_t persistent) const { return slotStrides[persistent]; }
  /// Bytes between consecutive copies of a persistent allocation: slots of a stash, microbatches of
  /// an input.
  int64_t copyStride(size_t persistent) const { return copyStrides[persistent]; }
  const std::vector<int64_t> &transient(size_t function) const {
    return transientOffsets[function];
  }

private:
  static constexpr int64_t kAbsent = -1;

  void layOutPersistent(const Program &program, const Pipelines &pipelines);

  Device &device;
  std::vector<int64_t> persistentOffsets, slotStrides, copyStrides;
  std::vector<std::vector<int64_t>> transientOffsets;
  int64_t persistentEnd = 0;
  int64_t size = 0;
  std::byte *memory = nullptr;
  int64_t hostSize = 0;
  std::byte *hostMemory = nullptr;
};

} // namespace titan::rt
