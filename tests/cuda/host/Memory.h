// The emulated device's memory: an address range that only device code may access. Each byte is
// free, allocated or written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_host {

constexpr size_t kDeviceBytes = size_t{4} << 30;

enum class State : uint8_t { Free, Allocated, Written };

struct DeviceMemory {
  std::byte *base;
  State *states; // of each byte
};
extern const DeviceMemory deviceMemory;

inline size_t getOffset(const void *address) {
  return static_cast<size_t>(static_cast<const std::byte *>(address) - deviceMemory.base);
}
inline bool isDevice(const void *address) {
  return getOffset(address) < kDeviceBytes;
}

/// Host memory that the device can access too.
bool isPinned(const void *address);

void *allocate(size_t bytes); // null: out of memory
void release(void *memory);
size_t bytesInUse();

/// During its lifetime, the host thread runs device code. Otherwise the memory is protected.
class OnDevice {
public:
  OnDevice();
  ~OnDevice();
};

/// Ends the program unless all bytes are allocated (and, for reads, written). `what` performs the
/// access.
void checkRead(const void *from, size_t bytes, const char *what);
void checkWrite(const void *to, size_t bytes, const char *what);
void markWritten(void *to, size_t bytes);

/// Ends the program with a message that names the running code.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char *format, ...);

} // namespace cuda_host
