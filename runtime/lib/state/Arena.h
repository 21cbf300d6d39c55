// The one block of memory that a rank's program works in. All offsets are known before the first
// step: persistent buffers one after the other or block by block (PersistentLayout.h), then one
// region that the functions' transient buffers share, since only one function runs at a time. Pages
// are zero when first touched.
#pragma once

#include "device/Device.h"

#include "titan/runtime/program.h"

#include <vector>

namespace titan::rt {

class Arena {
public:
  Arena(const Program &program, Device &device);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  std::byte *base() const { return memory; }
  int64_t bytes() const { return size; }
  int64_t persistentBytes() const { return persistentEnd; }
  /// Byte offsets from base(); of what is in a bucket, that of its first slot.
  const std::vector<int64_t> &persistent() const { return persistentOffsets; }
  /// Bytes from slot to slot of a persistent buffer that is in a bucket; 0 for others.
  int64_t slotStride(size_t persistent) const { return slotStrides[persistent]; }
  const std::vector<int64_t> &transient(size_t function) const {
    return transientOffsets[function];
  }

private:
  Device &device;
  std::vector<int64_t> persistentOffsets, slotStrides;
  std::vector<std::vector<int64_t>> transientOffsets;
  int64_t persistentEnd = 0;
  int64_t size = 0;
  std::byte *memory = nullptr;
};

} // namespace titan::rt
