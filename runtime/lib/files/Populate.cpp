#include "Populate.h"

#include <algorithm>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace titan::rt {

void populate(std::span<std::byte> memory) {
#ifdef MADV_POPULATE_WRITE
  constexpr uintptr_t together = uintptr_t{8} << 20; // a multiple of huge pages
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(memory.data()) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(memory.data()) + memory.size();
#pragma omp parallel for schedule(dynamic)
  for (uintptr_t i = begin / together; i < (end + together - 1) / together; ++i) {
    const uintptr_t from = std::max(begin, i * together), to = std::min(end, (i + 1) * together);
    ::madvise(reinterpret_cast<void *>(from), to - from, MADV_POPULATE_WRITE);
  }
#else
  static_cast<void>(memory);
#endif
}

} // namespace titan::rt
