#include "Populate.h"

#include <algorithm>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace titan::rt {

static uintptr_t alignToPage(const std::byte *address) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return reinterpret_cast<uintptr_t>(address) / page * page;
}

void populate(std::span<std::byte> memory) {
#ifdef MADV_POPULATE_WRITE
  constexpr uintptr_t requestBytes = uintptr_t{8} << 20; // a multiple of huge pages
  const uintptr_t begin = alignToPage(memory.data());
  const uintptr_t end = reinterpret_cast<uintptr_t>(memory.data()) + memory.size();
#pragma omp parallel for schedule(dynamic)
  for (uintptr_t i = begin / requestBytes; i < (end + requestBytes - 1) / requestBytes; ++i) {
    const uintptr_t from = std::max(begin, i * requestBytes),
                    to = std::min(end, (i + 1) * requestBytes);
    ::madvise(reinterpret_cast<void *>(from), to - from, MADV_POPULATE_WRITE);
  }
#else
  static_cast<void>(memory);
#endif
}

void readAhead(std::span<const std::byte> mapped) {
  // Linux reads no more of a request than the largest request of the device, often 1.25 MiB.
  constexpr uintptr_t requestBytes = uintptr_t{1} << 20;
  const auto end = reinterpret_cast<uintptr_t>(mapped.data()) + mapped.size();
  for (uintptr_t at = alignToPage(mapped.data()); at < end; at += requestBytes)
    ::madvise(reinterpret_cast<void *>(at), std::min(requestBytes, end - at), MADV_WILLNEED);
}

} // namespace titan::rt
