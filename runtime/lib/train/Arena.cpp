#include "Arena.h"

#include "compiler/support/ArenaPlanner.h"
#include "compiler/support/PersistentLayout.h"

#include "titan/runtime/alignment.h"

#include <algorithm>

namespace titan::rt {

namespace {

constexpr int64_t alignment = support::kArenaAlignment;
static_assert(alignment == tm::alignment, "emitted programs step through buckets by this");

std::vector<support::OffsetConstraint>
getConstraints(const std::vector<StackOverlap::OffsetConstraint> &constraints) {
  std::vector<support::OffsetConstraint> same;
  for (auto [below, above] : constraints)
    same.push_back({below, above});
  return same;
}

std::vector<support::StackOverlap> getStackOverlaps(const Function &function) {
  std::vector<support::StackOverlap> stackOverlaps;
  for (const StackOverlap &overlap : function.stackOverlaps)
    stackOverlaps.push_back({overlap.consumed, overlap.produced, overlap.consumedSlots,
                             overlap.producedSlots, getConstraints(overlap.producedAbove),
                             getConstraints(overlap.producedBelow)});
  return stackOverlaps;
}

} // namespace

Arena::Arena(const Program &program, Device &device) : device(device) {
  std::vector<support::PersistentItem> persistentItems;
  for (const Allocation &allocation : program.persistent)
    persistentItems.push_back({allocation.bytes, allocation.bucket, allocation.slots});
  support::PersistentLayout persistentLayout =
      support::makePersistentLayout(persistentItems, alignment);
  persistentOffsets = std::move(persistentLayout.offsets);
  slotStrides = std::move(persistentLayout.strides);
  persistentEnd = persistentLayout.bytes;
  int64_t shared = 0;
  for (const Function &function : program.functions) {
    std::vector<support::ArenaItem> items;
    for (const Allocation &allocation : function.transient)
      items.push_back({allocation.bytes, allocation.first, allocation.last});
    support::ArenaPlan plan = support::planArena(items, getStackOverlaps(function), alignment);
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
