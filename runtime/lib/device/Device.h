// The device of the arena, and host access to its memory. A program links one implementation:
// titan_runtime defines makeDevice() and the kernels for the CPU; titan_runtime_cuda, which
// precedes it on the link line, defines the same names for CUDA. So a CPU program loads no CUDA
// library.
//
// Errors: UserError if the device is missing or its memory is too small; Fault from the device.
#pragma once

#include "comm/Comm.h"
#include "titan/runtime/program.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace titan::rt {

class Device {
public:
  virtual ~Device() = default;

  /// Zeroed memory, aligned to at least 64 bytes.
  virtual std::byte *allocate(int64_t bytes) = 0;
  virtual void release(std::byte *memory, int64_t bytes) = 0;
  /// Zeroed memory of the host that kernels access directly; on CPUs, ordinary memory.
  virtual std::byte *allocateOnHost(int64_t bytes) { return allocate(bytes); }
  virtual void releaseOnHost(std::byte *memory, int64_t bytes) { release(memory, bytes); }

  /// Whether the host can access device pointers.
  virtual bool isHost() const = 0;
  /// Copy between memory of the host and memory from allocate() or allocateOnHost().
  virtual void upload(std::byte *to, const void *from, int64_t bytes) = 0;
  virtual void download(void *to, const std::byte *from, int64_t bytes) = 0;
  /// Copies `rows` blocks of `bytes` within the device's memory, with the given strides in bytes.
  virtual void copyBlocks(const std::byte *from, int64_t fromStride, std::byte *to,
                          int64_t toStride, int64_t rows, int64_t bytes) = 0;
  /// The name of the device's model; empty for a CPU.
  virtual std::string name() { return ""; }
  /// Waits for all queued work.
  virtual void synchronize() = 0;
  /// The queue of a step's work (a cudaStream_t); null on CPUs.
  virtual void *stream() = 0;
  /// Where kernels record an index out of range; null on CPUs.
  virtual BadIndex *badIndex() { return nullptr; }
  /// The process's peak memory use, and the total memory.
  virtual int64_t peakMemoryBytes() = 0;
  virtual int64_t totalMemoryBytes() = 0;
  /// The bytes of memory from allocate() whose pages were accessed; none if the device cannot tell.
  virtual std::optional<int64_t> touchedBytes(const std::byte * /*memory*/, int64_t /*bytes*/) {
    return std::nullopt;
  }
  /// The group for collectives among these ranks on this device's memory. The device or `world`
  /// owns it.
  virtual Group &group(World &world, const std::vector<int> &ranks) = 0;
};

/// This rank's device: of several, the one with the index of the rank on its machine.
std::unique_ptr<Device> makeDevice(const LaunchInfo &launch);

/// The host's view of a range of device memory: the memory itself if the host can access it,
/// otherwise a copy that is downloaded at the start and uploaded at the end, according to `access`.
class HostView {
public:
  enum class Access { Read, Write, ReadWrite };
  HostView(Device &device, std::byte *memory, int64_t bytes, Access access)
      : device(device), memory(memory), access(access) {
    if (device.isHost())
      return;
    copy.resize(static_cast<size_t>(bytes));
    if (access != Access::Write)
      device.download(copy.data(), memory, bytes);
  }
  ~HostView() noexcept(false) {
    if (!device.isHost() && access != Access::Read)
      device.upload(memory, copy.data(), static_cast<int64_t>(copy.size()));
  }
  HostView(const HostView &) = delete;
  HostView &operator=(const HostView &) = delete;

  std::byte *data() { return device.isHost() ? memory : copy.data(); }
  template <typename T> T *as() { return reinterpret_cast<T *>(data()); }

private:
  Device &device;
  std::byte *memory;
  Access access;
  std::vector<std::byte> copy;
};

} // namespace titan::rt
