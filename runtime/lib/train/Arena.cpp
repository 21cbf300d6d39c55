#include "Arena.h"

#include "titan/runtime/error.h"
#include "titan/runtime/metrics.h"

#include "compiler/support/ArenaPlanner.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace titan::rt {

namespace {

constexpr int64_t alignment = 64; // a cache line, and the widest vectors

} // namespace

Arena::Arena(const Program &program) {
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
  void *mapped = ::mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw UserError("the program needs " + formatBytes(size) +
                    " of memory on this rank: " + std::strerror(errno));
  // Huge pages save a few per cent of a step in address translation.
  ::madvise(mapped, static_cast<size_t>(size), MADV_HUGEPAGE);
  memory = static_cast<std::byte *>(mapped);
}

Arena::~Arena() {
  ::munmap(memory, static_cast<size_t>(size));
}

} // namespace titan::rt
