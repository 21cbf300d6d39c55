#include "Arena.h"

#include "compiler/support/ArenaPlanner.h"
#include "compiler/support/KeptPlan.h"

#include "titan/runtime/alignment.h"

#include <algorithm>

namespace titan::rt {

namespace {

constexpr int64_t alignment = support::kArenaAlignment;
static_assert(alignment == tm::alignment, "emitted programs step through buckets by this");

std::vector<support::Corner> getCorners(const std::vector<Handover::Corner> &corners) {
  std::vector<support::Corner> same;
  for (auto [below, above] : corners)
    same.push_back({below, above});
  return same;
}

std::vector<support::Handover> getHandovers(const Function &function) {
  std::vector<support::Handover> handovers;
  for (const Handover &handover : function.handovers)
    handovers.push_back({handover.emptied, handover.filled, handover.emptiedSlots,
                         handover.filledSlots, getCorners(handover.filledAbove),
                         getCorners(handover.filledBelow)});
  return handovers;
}

} // namespace

Arena::Arena(const Program &program, Device &device) : device(device) {
  std::vector<support::KeptItem> kept;
  for (const Buffer &buffer : program.persistent)
    kept.push_back({buffer.bytes, buffer.bucket, buffer.slots});
  support::KeptPlan keptPlan = support::planKept(kept, alignment);
  persistentOffsets = std::move(keptPlan.offsets);
  slotStrides = std::move(keptPlan.strides);
  persistentEnd = keptPlan.bytes;
  int64_t shared = 0;
  for (const Function &function : program.functions) {
    std::vector<support::ArenaItem> items;
    for (const Buffer &buffer : function.transient)
      items.push_back({buffer.bytes, buffer.first, buffer.last});
    support::ArenaPlan plan = support::planArena(items, getHandovers(function), alignment);
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
