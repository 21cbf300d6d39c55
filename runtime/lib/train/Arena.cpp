#include "Arena.h"

#include "compiler/support/ArenaPlanner.h"

#include <algorithm>

namespace titan::rt {

namespace {

constexpr int64_t alignment = 64; // a cache line, and the widest vectors

} // namespace

Arena::Arena(const Program &program, Device &device) : device(device) {
  for (const Buffer &buffer : program.persistent) {
    persistentOffsets.push_back(persistentEnd);
    persistentEnd += support::alignTo(buffer.bytes, alignment);
  }
  int64_t shared = 0;
  for (const Function &function : program.functions) {
    std::vector<support::ArenaItem> items;
    for (const Buffer &buffer : function.transient)
      items.push_back({buffer.bytes, buffer.first, buffer.last});
    support::ArenaPlan plan = support::planArena(items, alignment);
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
