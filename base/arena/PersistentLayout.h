//===- PersistentLayout.h - Offsets for buffers that are always alive ---*- C++ -*-===//
//
// What lives from step to step lies one behind the other. Buffers that are stored by block share
// a bucket: of each of them the first slot, then of each the second, and so on, so that what a
// block has of all of them is one stretch of memory. Plain data without MLIR, like ArenaPlanner.h,
// because compiler and runtime must come to one plan.
//
// Sizes are in bytes. Every slot begins at a multiple of the alignment.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_BASE_ARENA_PERSISTENTLAYOUT_H
#define TITAN_BASE_ARENA_PERSISTENTLAYOUT_H

#include "base/arena/ArenaConflicts.h"

#include <map>
#include <string>
#include <vector>

namespace titan::arena {

struct PersistentItem {
  int64_t bytes = 0;
  std::string bucket = {}; ///< empty: lies alone, in one piece
  int64_t slots = 1;       ///< one of each block; alike within a bucket
};

struct PersistentLayout {
  std::vector<int64_t> offsets; ///< of an item's first slot
  std::vector<int64_t> strides; ///< from one slot of an item to its next; 0 for what lies alone
  int64_t bytes = 0;
};

/// What one slot takes.
inline int64_t getSlotBytes(const PersistentItem &item, int64_t alignment) {
  return alignTo(item.bytes / item.slots, alignment);
}

/// What an item takes of the whole.
inline int64_t getPersistentBytes(const PersistentItem &item, int64_t alignment = kArenaAlignment) {
  return item.bucket.empty() ? alignTo(item.bytes, alignment)
                             : item.slots * getSlotBytes(item, alignment);
}

/// Items in their order; a bucket lies where the first of its items stands.
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

#endif // TITAN_BASE_ARENA_PERSISTENTLAYOUT_H
