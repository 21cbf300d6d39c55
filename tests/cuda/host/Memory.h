// The device's memory: a range of addresses that only what runs on the device may touch, and for
// each byte whether it was allocated and written.
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

inline size_t offsetOf(const void *address) {
  return static_cast<size_t>(static_cast<const std::byte *>(address) - deviceMemory.base);
}
inline bool isDevice(const void *address) {
  return offsetOf(address) < kDeviceBytes;
}

/// Memory of the host that a device reaches, too.
bool isPinned(const void *address);

void *allocate(size_t bytes); // null: none is left
void release(void *memory);
size_t bytesInUse();

/// While one exists, the host's thread does the device's work. Otherwise the memory is closed to
/// it.
class OnDevice {
public:
  OnDevice();
  ~OnDevice();
};

/// Ends the program unless all bytes are allocated (and, to be read, written). `what` reads or
/// writes them.
void checkRead(const void *from, size_t bytes, const char *what);
void checkWrite(const void *to, size_t bytes, const char *what);
void markWritten(void *to, size_t bytes);

/// Ends the program with a message that says what ran.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char *format, ...);

} // namespace cuda_host
