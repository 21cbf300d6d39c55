// Checks every memory access of a kernel. Device sources are compiled with -fsanitize=thread, which
// calls a function before each access; this file defines these functions instead of
// ThreadSanitizer. An access must be aligned, to device memory, and a read must be of written
// bytes. Two threads may access the same bytes without a barrier in between only if both read.
#include "Kernels.h"
#include "Memory.h"

#include "cuda_runtime.h"

#include <sys/mman.h>
#include <vector>

extern char __executable_start, __data_start, _end; // set by the linker

namespace cuda_host {

namespace {

constexpr uint16_t kSeveral = 0xffff; // the reader, if several threads read in one interval

/// The last accesses to the element that starts at this address.
struct Trace {
  uint32_t write = 0, read = 0;    // their intervals; 0: none yet
  uint16_t writer = 0, reader = 0; // indices of threads
};

Trace *makeTraces(size_t count) {
  return static_cast<Trace *>(mmap(nullptr, count * sizeof(Trace), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

size_t distance(const void *from, const void *to) {
  return static_cast<size_t>(static_cast<const char *>(to) - static_cast<const char *>(from));
}

/// Whether no barrier separates the running thread from an access by `thread` in `interval`.
bool isUnordered(uint32_t interval, uint16_t thread) {
  return (interval >= running.launchBegan && interval < running.blockBegan) ||
         (interval == running.interval && thread != running.thread);
}

/// Ends the program if an access of the running thread races with an earlier one; records the
/// access.
void recordAccess(Trace &trace, bool writes, const char *where) {
  if (isUnordered(trace.write, trace.writer))
    fail("a thread %s %s memory that thread %u writes, without a barrier between them",
         writes ? "writes" : "reads", where, unsigned{trace.writer});
  if (writes) {
    if (isUnordered(trace.read, trace.reader))
      fail("a thread writes %s memory that thread %u reads, without a barrier between them", where,
           unsigned{trace.reader});
    trace.write = running.interval;
    trace.writer = running.thread;
  } else if (trace.read != running.interval) {
    // Keeps an earlier reader in another block of this launch.
    const bool others = trace.read >= running.launchBegan && trace.read < running.blockBegan;
    if (!others)
      trace.read = running.interval, trace.reader = running.thread;
  } else if (trace.reader != running.thread) {
    trace.reader = kSeveral;
  }
}

void touchDevice(void *address, size_t bytes, bool writes) {
  static Trace *traces = makeTraces(kDeviceBytes);
  const size_t at = getOffset(address);
  const State *states = deviceMemory.states + at;
  if (writes)
    checkWrite(address, bytes, "a thread");
  else
    for (size_t i = 0; i < bytes; ++i)
      if (states[i] != State::Written)
        checkRead(address, bytes, "a thread");
  recordAccess(traces[at], writes, "the device's");
  if (writes)
    markWritten(address, bytes);
}

void touchShared(void *address, bool writes) {
  static Trace *traces = makeTraces(distance(&__data_start, &_end));
  Trace &trace = traces[distance(&__data_start, address)];
  // Each block has its own shared memory.
  if (trace.write < running.blockBegan)
    trace.write = 0;
  if (trace.read < running.blockBegan)
    trace.read = 0;
  if (!writes && trace.write == 0)
    fail("a thread reads shared memory that its block has not written");
  recordAccess(trace, writes, "shared");
}

void touch(void *address, size_t bytes, bool writes) {
  if (!running.active || distance(running.stacks, address) < running.stackBytes)
    return;
  if (reinterpret_cast<uintptr_t>(address) % bytes != 0)
    fail("an access of %zu bytes is not aligned", bytes);
  if (isDevice(address))
    return touchDevice(address, bytes, writes);
  if (distance(&builtIn, address) < sizeof builtIn)
    return;
  if (distance(&__data_start, address) < distance(&__data_start, &_end))
    return touchShared(address, writes);
  if (isPinned(address))
    return;
  const bool isConstant =
      distance(&__executable_start, address) < distance(&__executable_start, &__data_start);
  if (writes || !isConstant)
    fail("a thread %s memory of the host", writes ? "writes" : "reads");
}

} // namespace

} // namespace cuda_host

#define TOUCH(bytes)                                                                               \
  void __tsan_read##bytes(void *address) {                                                         \
    cuda_host::touch(address, bytes, false);                                                       \
  }                                                                                                \
  void __tsan_write##bytes(void *address) {                                                        \
    cuda_host::touch(address, bytes, true);                                                        \
  }                                                                                                \
  void __tsan_unaligned_read##bytes(void *address) {                                               \
    cuda_host::touch(address, bytes, false);                                                       \
  }                                                                                                \
  void __tsan_unaligned_write##bytes(void *address) {                                              \
    cuda_host::touch(address, bytes, true);                                                        \
  }

extern "C" {
TOUCH(1)
TOUCH(2)
TOUCH(4)
TOUCH(8)
TOUCH(16)
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
void __tsan_read_range(void *address, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    cuda_host::touch(static_cast<char *>(address) + i, 1, false);
}
void __tsan_write_range(void *address, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    cuda_host::touch(static_cast<char *>(address) + i, 1, true);
}
}
