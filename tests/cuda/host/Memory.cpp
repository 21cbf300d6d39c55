// Allocation and protection of the emulated device's memory.
#include "Memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sys/mman.h>

namespace cuda_host {

namespace {

constexpr size_t kPage = 4096;
int depth = 0; // nesting of OnDevice
size_t inUse = 0;
std::map<size_t, size_t> blocks; // offset and bytes

void *reserve(size_t bytes, int protection) {
  void *mapped =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    std::perror("cuda host: reserving memory");
    std::abort();
  }
  return mapped;
}

/// Sets the protection of all pages ever allocated.
void protect(int protection) {
  static size_t end = 0;
  if (!blocks.empty())
    end = std::max(end, blocks.rbegin()->first + blocks.rbegin()->second);
  mprotect(deviceMemory.base, (end + kPage - 1) / kPage * kPage, protection);
}

/// Ends the program unless all bytes have at least the state `least`.
void check(const void *at, size_t bytes, State least, const char *what, const char *does) {
  if (bytes == 0) // a message to nobody has no address
    return;
  const size_t from = getOffset(at);
  if (from >= kDeviceBytes || bytes > kDeviceBytes - from)
    fail("%s %s memory of the host", what, does);
  const State *end = deviceMemory.states + from + bytes;
  const State *wrong = std::find_if(end - bytes, end, [&](State state) { return state < least; });
  if (wrong != end)
    fail("%s %s byte %zu of %zu, which is %s", what, does, bytes - (end - wrong), bytes,
         *wrong == State::Free ? "not allocated" : "not written");
}

} // namespace

const DeviceMemory deviceMemory = {
    static_cast<std::byte *>(reserve(kDeviceBytes, PROT_NONE)),
    static_cast<State *>(reserve(kDeviceBytes, PROT_READ | PROT_WRITE))};

void *allocate(size_t bytes) {
  // First fit, with at least one unowned byte between allocations.
  size_t at = 0;
  for (auto [offset, size] : blocks) {
    if (at + bytes < offset)
      break;
    at = (offset + size + 1 + kPage - 1) / kPage * kPage;
  }
  if (bytes >= kDeviceBytes || at > kDeviceBytes - bytes)
    return nullptr;
  blocks[at] = bytes;
  inUse += bytes;
  OnDevice here;
  std::fill_n(deviceMemory.states + at, bytes, State::Allocated);
  std::fill_n(deviceMemory.base + at, bytes, std::byte{0xff}); // NaN in every type
  return deviceMemory.base + at;
}

void release(void *memory) {
  auto block = blocks.find(getOffset(memory));
  if (block == blocks.end())
    fail("cudaFree of what was not allocated");
  std::fill_n(deviceMemory.states + block->first, block->second, State::Free);
  inUse -= block->second;
  blocks.erase(block);
}

size_t bytesInUse() {
  return inUse;
}

OnDevice::OnDevice() {
  if (depth++ == 0)
    protect(PROT_READ | PROT_WRITE);
}
OnDevice::~OnDevice() {
  if (--depth == 0)
    protect(PROT_NONE);
}

void checkRead(const void *from, size_t bytes, const char *what) {
  check(from, bytes, State::Written, what, "reads");
}
void checkWrite(const void *to, size_t bytes, const char *what) {
  check(to, bytes, State::Allocated, what, "writes");
}
void markWritten(void *to, size_t bytes) {
  std::fill_n(deviceMemory.states + getOffset(to), bytes, State::Written);
}

} // namespace cuda_host
