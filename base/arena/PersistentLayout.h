// Offsets of persistent allocations: those that keep their contents between steps.
//
// Persistent allocations are consecutive. Allocations that are stored block by block share a
// bucket: it contains the first slots of all of them, then the second slots, and so on. The slots
// of one block are therefore one contiguous range. Plain data without MLIR, like ArenaPlanner.h,
// because compiler and runtime must compute the same layout.
//
// Sizes are in bytes. Every slot starts at a multiple of the alignment.
#pragma once

#include "base/arena/ArenaConflicts.h"

#include <map>
#include <string>
#include <vector>

namespace titan::arena {

/// One persistent allocation.
struct PersistentItem {
  int64_t bytes = 0;
  std::string bucket = {}; ///< empty: one contiguous range
  int64_t slots = 1;       ///< one per block; equal within a bucket
};

struct PersistentLayout {
  std::vector<int64_t> offsets; ///< of the first slot of each item
  std::vector<int64_t> strides; ///< between consecutive slots of an item; 0 for a contiguous item
  int64_t bytes = 0;
};

/// The aligned size of one slot.
inline int64_t getSlotBytes(const PersistentItem &item, int64_t alignment) {
  return alignTo(item.bytes / item.slots, alignment);
}

/// The aligned size of all slots of an item.
inline int64_t getPersistentBytes(const PersistentItem &item, int64_t alignment = kArenaAlignment) {
  return item.bucket.empty() ? alignTo(item.bytes, alignment)
                             : item.slots * getSlotBytes(item, alignment);
}

/// The offsets of `items`. Items keep their order; a bucket is at the position of its first item.
inline PersistentLayout makePersistentLayout(const std::vector<PersistentItem> &items,
                                             int64_t alignment = kArenaAlignment) {
  PersistentLayout layout;
  layout.offsets.assign(items.size(), 0);
  layout.strides.assign(items.size(), 0);
  std::map<std::string, std::vector<size_t>> buckets;
  for (size_t i = 0; i < items.size(); ++i)
    buckets[items[i].bucket].push_back(i);
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].bucket.empty()) {
      layout.offsets[i] = layout.bytes;
      layout.bytes += getPersistentBytes(items[i], alignment);
      continue;
    }
    const std::vector<size_t> &members = buckets[items[i].bucket];
    if (members.front() != i)
      continue;
    int64_t stride = 0;
    for (size_t member : members) {
      layout.offsets[member] = layout.bytes + stride;
      stride += getSlotBytes(items[member], alignment);
    }
    for (size_t member : members)
      layout.strides[member] = stride;
    layout.bytes += items[i].slots * stride;
  }
  return layout;
}

} // namespace titan::arena
