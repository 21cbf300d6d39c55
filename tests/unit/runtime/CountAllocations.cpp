// A preloaded library that counts allocations and memory mappings of all threads and libraries, and
// writes the count to the file ALLOCATIONS_FILE at exit. Two runs that differ only in their number
// of steps must have equal counts.
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
}

namespace {

std::atomic<long> count{0};

struct AtExit {
  ~AtExit() {
    const char *path = std::getenv("ALLOCATIONS_FILE");
    long total = count;
    if (std::FILE *file = path ? std::fopen(path, "w") : nullptr) {
      std::fprintf(file, "%ld\n", total);
      std::fclose(file);
    }
  }
} atExit;

} // namespace

extern "C" {

void *malloc(size_t size) {
  ++count;
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  ++count;
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  ++count;
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  ++count;
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  *out = memalign(alignment, size);
  return *out ? 0 : 12; // ENOMEM
}

} // extern "C"
