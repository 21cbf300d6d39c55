#include "Arena.h"

#include "base/arena/ArenaPlanner.h"
#include "base/arena/PersistentLayout.h"

#include <algorithm>

namespace titan::rt {

namespace {

constexpr int64_t alignment = arena::kArenaAlignment;

} // namespace

void Arena::layOutPersistent(const Program &program, const Pipelines &pipelines) {
  struct Block {
    std::vector<arena::PersistentItem> items;
    std::vector<size_t> present;
  } blocks[2]; // the device's, the host's
  for (size_t i = 0; i < program.persistent.size(); ++i) {
    const Allocation &allocation = program.persistent[i];
    const int64_t copies = allocation.isUsed ? pipelines.getNumCopies(i) : 0;
    copyStrides.push_back(pipelines.isPacked(i) ? allocation.bytes
                                                : arena::alignTo(allocation.bytes, alignment));
    if (copies == 0)
      continue;
    Block &block = blocks[allocation.isOnHost];
    block.present.push_back(i);
    block.items.push_back({(copies - 1) * copyStrides.back() + allocation.bytes, allocation.bucket,
                           allocation.slots});
  }
  persistentOffsets.assign(program.persistent.size(), kAbsent);
  slotStrides.assign(program.persistent.size(), 0);
  for (bool isOnHost : {false, true}) {
    const Block &block = blocks[isOnHost];
    const arena::PersistentLayout layout = arena::makePersistentLayout(block.items, alignment);
    for (size_t i = 0; i < block.present.size(); ++i) {
      persistentOffsets[block.present[i]] = layout.offsets[i];
      slotStrides[block.present[i]] = layout.strides[i];
    }
    (isOnHost ? hostSize : persistentEnd) = layout.bytes;
  }
}

Arena::Arena(const Program &program, const Pipelines &pipelines, Device &device) : device(device) {
  layOutPersistent(program, pipelines);
  int64_t shared = 0;
  for (const Function &function : program.functions) {
    std::vector<arena::ArenaItem> items;
    if (!pipelines.runs(function.name)) {
      transientOffsets.emplace_back();
      continue;
    }
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
  if (hostSize == 0)
    return;
  hostMemory = device.allocateOnHost(hostSize);
  for (size_t i = 0; i < program.persistent.size(); ++i)
    if (program.persistent[i].isOnHost && has(i))
      persistentOffsets[i] += hostMemory - memory;
}

std::optional<int64_t> Arena::touchedBytes() const {
  std::optional<int64_t> touched = device.touchedBytes(memory, size);
  if (touched && hostMemory)
    *touched += device.touchedBytes(hostMemory, hostSize).value_or(0);
  return touched;
}

Arena::~Arena() {
  device.release(memory, size);
  if (hostMemory)
    device.releaseOnHost(hostMemory, hostSize);
}

} // namespace titan::rt
