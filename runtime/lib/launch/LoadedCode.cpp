#include "LoadedCode.h"

#include <cstdint>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace titan::rt {

namespace {

/// Of one loaded file: its segments that cannot be written. What is made read-only after relocation
/// belongs to a segment that can.
int releasePages(dl_phdr_info *file, size_t, void *) {
  if (!file->dlpi_name || *file->dlpi_name != '/')
    return 0; // the program itself, or what the system lends
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = file->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W))
      continue;
    const uintptr_t begin = (file->dlpi_addr + segment.p_vaddr + page - 1) / page * page;
    const uintptr_t end = (file->dlpi_addr + segment.p_vaddr + segment.p_memsz) / page * page;
    if (begin < end) // a wish: nothing depends on whether the system grants it
      madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

} // namespace

void releaseLoadedCode() {
  dl_iterate_phdr(releasePages, nullptr);
}

} // namespace titan::rt
