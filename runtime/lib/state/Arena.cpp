#include "Arena.h"

#include "base/arena/ArenaPlanner.h"
#include "base/arena/PersistentLayout.h"

#include <algorithm>

namespace titan::rt {

namespace {

constexpr int64_t alignment = arena::kArenaAlignment;

} // namespace

Arena::Arena(const Program &program, Device &device) : device(device) {
  std::vector<arena::PersistentItem> persistentItems;
  for (const Allocation &allocation : program.persistent)
    persistentItems.push_back({allocation.bytes, allocation.bucket, allocation.slots});
  arena::PersistentLayout persistentLayout =
      arena::makePersistentLayout(persistentItems, alignment);
  persistentOffsets = std::move(persistentLayout.offsets);
  slotStrides = std::move(persistentLayout.strides);
  persistentEnd = persistentLayout.bytes;
  int64_t shared = 0;
  for (const Function &function : program.functions) {
    std::vector<arena::ArenaItem> items;
    for (const Allocation &allocation : function.transient)
      items.push_back({allocation.bytes, allocation.first, allocation.last});
    arena::ArenaPlan plan = arena::planArena(items, function.stackOverlaps, alignment);
    for (int64_t &offset : plan.offsets)
      offset += persistentEnd;
    shared = std::max(shared, plan.bytes);
    transientOffsets.push_back(std::move(plan.offsets));
  }
  size = std::max<int64_t>(persistentEnd + shared, alignment);
  memory = device.allocate(size);
}

Arena::~Arena() {
  device.release(memory, size);
}

} // namespace titan::rt
