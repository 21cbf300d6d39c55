#include "Arena.h"

#include "base/arena/ArenaPlanner.h"
#include "base/arena/KeptPlan.h"

#include <algorithm>

namespace titan::rt {

namespace {

constexpr int64_t alignment = arena::kArenaAlignment;

} // namespace

Arena::Arena(const Program &program, Device &device) : device(device) {
  std::vector<arena::KeptItem> kept;
  for (const Buffer &buffer : program.persistent)
    kept.push_back({buffer.bytes, buffer.bucket, buffer.slots});
  arena::KeptPlan keptPlan = arena::planKept(kept, alignment);
  persistentOffsets = std::move(keptPlan.offsets);
  slotDistances = std::move(keptPlan.strides);
  persistentEnd = keptPlan.bytes;
  int64_t shared = 0;
  for (const Function &function : program.functions) {
    std::vector<arena::ArenaItem> items;
    for (const Buffer &buffer : function.transient)
      items.push_back({buffer.bytes, buffer.first, buffer.last});
    arena::ArenaPlan plan = arena::planArena(items, function.handovers, alignment);
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
