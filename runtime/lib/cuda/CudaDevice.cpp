// A CUDA device: the arena in its memory, one stream for a step's kernels, and c10d's NCCL groups
// for collectives. The groups use their own streams, ordered by events.
#include "Check.h"
#include "NcclGroup.h"
#include "PinnedRing.h"

#include "device/Device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace titan::rt {

namespace {

class CudaDevice final : public Device {
public:
  explicit CudaDevice(int index) : index(index) {
    check(cudaSetDevice(index), "choosing a device");
    check(cudaStreamCreateWithFlags(&queue, cudaStreamNonBlocking), "creating a stream");
    uploads.emplace();
    void *shared = nullptr;
    check(cudaMallocHost(&shared, sizeof(BadIndex)), "allocating page-locked memory");
    bad = new (shared) BadIndex();
  }
  ~CudaDevice() override {
    groups.clear(); // before the stream that their work waits for
    cudaStreamDestroy(queue);
    cudaFreeHost(bad);
  }

  std::byte *allocate(int64_t bytes) override {
    void *memory = nullptr;
    cudaError_t status = cudaMalloc(&memory, static_cast<size_t>(bytes));
    if (status == cudaErrorMemoryAllocation) {
      size_t free = 0, total = 0;
      cudaMemGetInfo(&free, &total);
      throw UserError(fmt::format("the program needs {:.1f} GiB on its device, of which {:.1f} of "
                                  "{:.1f} GiB are free",
                                  bytes * 0x1p-30, free * 0x1p-30, total * 0x1p-30));
    }
    check(status, "allocating memory");
    // On the queue, because the default stream of cudaMemset is not ordered with it.
    check(cudaMemsetAsync(memory, 0, static_cast<size_t>(bytes), queue), "clearing memory");
    allocated += bytes;
    return static_cast<std::byte *>(memory);
  }
  void release(std::byte *memory, int64_t bytes) override {
    cudaFree(memory);
    allocated -= bytes;
  }

  /// Page-locked and mapped: kernels read and write it over the bus.
  std::byte *allocateOnHost(int64_t bytes) override {
    void *memory = nullptr;
    check(cudaMallocHost(&memory, static_cast<size_t>(bytes)), "allocating page-locked memory");
    std::memset(memory, 0, static_cast<size_t>(bytes));
    hostBlocks.emplace_back(static_cast<std::byte *>(memory), static_cast<size_t>(bytes));
    return hostBlocks.back().data();
  }
  void releaseOnHost(std::byte *memory, int64_t) override {
    std::erase_if(hostBlocks, [&](const auto &block) { return block.data() == memory; });
    cudaFreeHost(memory);
  }

  bool isHost() const override { return false; }
  /// Returns before the transfer is complete, so the host need not wait for the previous step.
  void upload(std::byte *to, const void *from, int64_t bytes) override {
    if (isOnHost(to)) {
      synchronize();
      std::memcpy(to, from, static_cast<size_t>(bytes));
      return;
    }
    if (bytes > PinnedRing::blockBytes) {
      copyToDevice(to, from, bytes);
      return synchronize();
    }
    PinnedRing::Block &block = uploads->next();
    wait([&] { return cudaEventQuery(block.sent); });
    std::memcpy(block.memory, from, static_cast<size_t>(bytes));
    copyToDevice(to, block.memory, bytes);
    check(cudaEventRecord(block.sent, queue), "recording an event");
  }
  void download(void *to, const std::byte *from, int64_t bytes) override {
    synchronize();
    if (isOnHost(from)) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
      return;
    }
    check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToHost, queue),
          "copying from the device");
    synchronize();
  }
  void copyBlocks(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
                  int64_t rows, int64_t bytes) override {
    if (rows == 0 || bytes == 0)
      return;
    // The pitch must be at least a row, even for a single row.
    auto pitch = [&](int64_t stride) { return static_cast<size_t>(rows == 1 ? bytes : stride); };
    check(cudaMemcpy2DAsync(to, pitch(toStride), from, pitch(fromStride),
                            static_cast<size_t>(bytes), static_cast<size_t>(rows),
                            cudaMemcpyDeviceToDevice, queue),
          "copying blocks");
  }

  void synchronize() override {
    wait([&] { return cudaStreamQuery(queue); });
  }
  void *stream() override { return queue; }
  BadIndex *badIndex() override { return bad; }
  std::string name() override {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, index), "querying the device");
    return properties.name;
  }
  int64_t peakMemoryBytes() override { return allocated; }
  int64_t totalMemoryBytes() override {
    size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "querying the device's memory");
    return static_cast<int64_t>(total);
  }

  Group &group(World &world, const std::vector<int> &ranks) override {
    auto &slot = groups[ranks];
    if (!slot) {
      auto position = std::find(ranks.begin(), ranks.end(), world.rank()) - ranks.begin();
      slot = makeNcclGroup(world, ranks, static_cast<int>(position), queue, index);
    }
    return *slot;
  }

private:
  void copyToDevice(std::byte *to, const void *from, int64_t bytes) {
    check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyHostToDevice, queue),
          "copying to the device");
  }

  /// Waits by polling, to detect a vanished peer of a collective.
  template <typename Query> void wait(Query query) {
    check(cudaGetLastError(), "launching a kernel"); // the only place where failed launches appear
    auto begin = std::chrono::steady_clock::now();
    cudaError_t status;
    while ((status = query()) == cudaErrorNotReady) {
      cudaGetLastError(); // cudaErrorNotReady counts as an error too
      auto waited = std::chrono::steady_clock::now() - begin;
      if (waited > std::chrono::milliseconds(1)) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        checkGroups(waited);
      }
    }
    check(status, "waiting for the device");
    if (bad->found)
      failAtIndex(*bad);
    checkGroups({});
  }

  bool isOnHost(const std::byte *memory) const {
    return std::any_of(hostBlocks.begin(), hostBlocks.end(), [&](const auto &block) {
      return memory >= block.data() && memory < block.data() + block.size();
    });
  }

  void checkGroups(std::chrono::duration<double> waited) {
    for (auto &[ranks, group] : groups)
      group->checkPeers(waited);
  }

  int index;
  cudaStream_t queue = nullptr;
  BadIndex *bad = nullptr;           // page-locked, so kernels can access it
  std::optional<PinnedRing> uploads; // reset before the device
  int64_t allocated = 0;
  std::vector<std::span<std::byte>> hostBlocks;
  std::map<std::vector<int>, std::unique_ptr<DeviceGroup>> groups;
};

} // namespace

std::unique_ptr<Device> makeDevice(const LaunchInfo &launch) {
  int devices = 0;
  cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0)
    throw UserError(fmt::format("the program was compiled for CUDA, but no device is available: {}",
                                cudaGetErrorString(status)));
  if (launch.localWorldSize > devices)
    throw UserError(fmt::format("{} processes were started on this machine, which has {} CUDA "
                                "devices; each needs its own",
                                launch.localWorldSize, devices));
  return std::make_unique<CudaDevice>(launch.localRank);
}

} // namespace titan::rt
