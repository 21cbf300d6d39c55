#include "LoadedCode.h"

#include <cstdint>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace titan::rt {

namespace {

/// Releases the read-only segments of one loaded file. RELRO data belongs to a writable segment.
int releasePages(dl_phdr_info *file, size_t, void *) {
  if (!file->dlpi_name || *file->dlpi_name != '/')
    return 0; // the program itself, or the vDSO
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = file->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W))
      continue;
    const uintptr_t begin = (file->dlpi_addr + segment.p_vaddr + page - 1) / page * page;
    const uintptr_t end = (file->dlpi_addr + segment.p_vaddr + segment.p_memsz) / page * page;
    if (begin < end) // a hint that the system may ignore
      madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

} // namespace

void releaseLoadedCode() {
  dl_iterate_phdr(releasePages, nullptr);
}

} // namespace titan::rt
