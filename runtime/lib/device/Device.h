// Where a program's arena lies and how the host reaches it. There are two: the processor itself,
// where reaching is nothing, and a CUDA device. A program links one of them: titan_runtime defines
// makeDevice() and the kernels for processors, titan_runtime_cuda, which stands before it on the
// link line, defines the same names for CUDA. So a program for processors loads no CUDA library.
//
// Errors: UserError if there is no such device or not enough memory; Fault from the device.
#pragma once

#include "comm/Comm.h"
#include "titan/runtime/program.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace titan::rt {

class Device {
public:
  virtual ~Device() = default;

  /// Memory that reads as zero, aligned to 64 bytes at least.
  virtual std::byte *allocate(int64_t bytes) = 0;
  virtual void release(std::byte *memory, int64_t bytes) = 0;

  /// True if the host can use device pointers as they are.
  virtual bool isHost() const = 0;
  virtual void upload(std::byte *to, const void *from, int64_t bytes) = 0;
  virtual void download(void *to, const std::byte *from, int64_t bytes) = 0;
  /// Copies `rows` blocks of `bytes` within the device's memory, that lie so many bytes apart.
  virtual void copyBlocks(const std::byte *from, int64_t fromStride, std::byte *to,
                          int64_t toStride, int64_t rows, int64_t bytes) = 0;
  /// What the device calls itself; empty for a processor.
  virtual std::string name() { return ""; }
  /// Waits for everything that was queued.
  virtual void synchronize() = 0;
  /// The queue of a step's work (a cudaStream_t), null on processors.
  virtual void *stream() = 0;
  /// Where kernels note an index that is outside of its dimension; null on processors.
  virtual BadIndex *badIndex() { return nullptr; }
  /// Most memory that the process used so far, where it matters, and how much there is in all.
  virtual int64_t peakMemoryBytes() = 0;
  virtual int64_t totalMemoryBytes() = 0;
  /// Collectives on this device's memory among these ranks.
  virtual Group &group(World &world, const std::vector<int> &ranks) = 0;
};

/// This rank's device: with several, the one of its place among the machine's ranks.
std::unique_ptr<Device> makeDevice(const LaunchInfo &launch);

/// The host's view of a stretch of device memory: the memory itself where the host reaches it, else
/// a copy that is fetched at the beginning and brought back at the end, as asked for.
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
