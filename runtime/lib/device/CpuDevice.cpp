// The CPU as the device of a program that is not compiled for CUDA.
#include "Device.h"

#include "base/Error.h"
#include "metrics/Metrics.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace titan::rt {

namespace {

class CpuDevice final : public Device {
public:
  std::byte *allocate(int64_t bytes) override {
    void *mapped = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
      throw UserError("the program needs " + formatBytes(bytes) +
                      " of memory on this rank: " + std::strerror(errno));
    // Huge pages save a few per cent of a step in address translation.
    ::madvise(mapped, static_cast<size_t>(bytes), MADV_HUGEPAGE);
    return static_cast<std::byte *>(mapped);
  }
  void release(std::byte *memory, int64_t bytes) override {
    ::munmap(memory, static_cast<size_t>(bytes));
  }

  bool isHost() const override { return true; }
  void upload(std::byte *to, const void *from, int64_t bytes) override {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void download(void *to, const std::byte *from, int64_t bytes) override {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void copyBlocks(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
                  int64_t rows, int64_t bytes) override {
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(to + row * toStride, from + row * fromStride, static_cast<size_t>(bytes));
  }
  void synchronize() override {}
  void *stream() override { return nullptr; }
  int64_t peakMemoryBytes() override { return titan::rt::peakMemoryBytes(); }
  int64_t totalMemoryBytes() override {
    return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  }
  std::optional<int64_t> touchedBytes(const std::byte *memory, int64_t bytes) override {
    const int64_t page = sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page;
    std::vector<unsigned char> isPresent(static_cast<size_t>(pages));
    void *start = const_cast<std::byte *>(memory);
    if (::mincore(start, static_cast<size_t>(bytes), isPresent.data()) != 0)
      return std::nullopt;
    const auto touched = std::count_if(isPresent.begin(), isPresent.end(),
                                       [](unsigned char flags) { return (flags & 1) != 0; });
    return std::min(bytes, touched * page);
  }
  Group &group(World &world, const std::vector<int> &ranks) override { return world.group(ranks); }
};

} // namespace

std::unique_ptr<Device> makeDevice(const LaunchInfo &) {
  return std::make_unique<CpuDevice>();
}

} // namespace titan::rt
