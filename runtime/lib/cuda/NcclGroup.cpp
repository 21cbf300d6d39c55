#include "NcclGroup.h"

#include "Check.h"

#include "comm/C10d.h"
#include "comm/Rendezvous.h"

#include "base/Error.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>

#include <ATen/Context.h>
#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace titan::rt {

namespace {

/// Disables c10d's watchdog threads: they would end the process at a failure, with a stack trace
/// and without the action. The host handles failures instead. Variables that the user has set stay.
void leaveFailuresToTheHost() {
  setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", 0);
  setenv("TORCH_NCCL_ENABLE_MONITORING", "0", 0);
}

/// The store for the group's rendezvous: that of the run, or a local one for a single process.
c10::intrusive_ptr<c10d::Store> getStore(Rendezvous *rendezvous) {
  if (!rendezvous)
    return c10::make_intrusive<c10d::HashStore>();
  return c10::intrusive_ptr<c10d::Store>::reclaim_copy(&rendezvous->store());
}

/// Whether the stream is being captured. Captured work runs with its graph and cannot be queried.
bool isCaptured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "querying whether a step is captured");
  return status != cudaStreamCaptureStatusNone;
}

class NcclGroup final : public DeviceGroup {
public:
  NcclGroup(World &world, const std::vector<int> &ranks, int position,
            c10::cuda::CUDAStream stream);
  ~NcclGroup() override;

  void allReduce(void *data, int64_t count, DType type, Reduction op, Site site) override;
  void allGather(const void *input, void *output, int64_t count, DType type, Site site) override;
  void reduceScatter(const void *input, void *output, int64_t count, DType type, Reduction op,
                     Site site) override;
  void permute(const void *input, void *output, int64_t count, DType type, Shift shift,
               Site site) override;
  void allToAll(const void *input, void *output, int64_t count, DType type, Site site) override;
  void broadcast(void *data, int64_t count, DType type, int root, Site site) override;
  void barrier(Site site) override;

  /// Supports contiguous buffers; NCCL coalesces them into one launch.
  bool supportsUnpacked(std::span<const CollectiveBuffer> buffers) const override;
  void allReduce(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                 Site site) override;
  void allGather(std::span<const CollectiveBuffer> buffers, DType type, Site site) override;
  void reduceScatter(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                     Site site) override;
  void permute(std::span<const CollectiveBuffer> buffers, DType type, Shift shift,
               Site site) override;

  void makeNextAsync(int channel) override { deferTo = channel; }
  void waitAsync(int channel) override;

  void checkPeers(std::chrono::duration<double> waited) override;

private:
  struct Queued {
    c10::intrusive_ptr<c10d::Work> work;
    const char *operation;
    Site site;
  };

  at::Tensor view(const void *data, int64_t count, DType type) const;
  /// Views of the buffers' inputs or outputs, each of `blocks` blocks.
  std::vector<at::Tensor> views(std::span<const CollectiveBuffer> buffers, bool isOutput,
                                int64_t blocks, DType type) const;
  /// Queues the collective that `start` starts. Orders it before later work of the stream, or
  /// defers that to waitAsync on the channel `deferTo`.
  template <typename Start> void queue(const char *operation, Site site, Start start);
  /// Removes completed collectives. Throws the error of the first failed one.
  void retire(std::chrono::duration<double> waited);

  c10::cuda::CUDAStream stream;
  std::chrono::seconds timeout;
  c10::intrusive_ptr<c10d::ProcessGroupNCCL> nccl;
  std::deque<Queued> pending;                             // in execution order
  std::map<int, c10::intrusive_ptr<c10d::Work>> deferred; // by channel
  int deferTo = -1; // the channel of the next collective; -1: synchronous with the stream
};

NcclGroup::NcclGroup(World &world, const std::vector<int> &ranks, int position,
                     c10::cuda::CUDAStream stream)
    : DeviceGroup(ranks, position), stream(stream), timeout(world.options().timeout) {
  leaveFailuresToTheHost();
  std::string name = fmt::format("device/{}", fmt::join(ranks, ","));
  try {
    at::globalContext().lazyInitDevice(at::kCUDA);
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = timeout;
    options->group_name = name;
    options->global_ranks_in_group.assign(ranks.begin(), ranks.end());
    auto store = c10::make_intrusive<c10d::PrefixStore>(name, getStore(world.rendezvous()));
    nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, position, size(), options);
    nccl->eagerConnectSingleDevice(stream.device()); // not during the first step
  } catch (const std::exception &error) {
    throw Fault(fmt::format("rank {}: cannot connect the devices of ranks {{{}}}: {}", world.rank(),
                            fmt::join(ranks, ", "), firstLine(error)));
  }
}

NcclGroup::~NcclGroup() {
  pending.clear();
  deferred.clear();
  try {
    nccl->abort(); // does not wait for missing peers
  } catch (const std::exception &) {
    // The end of the process ends the group as well.
  }
}

/// A view of memory in the arena, without ownership.
at::Tensor NcclGroup::view(const void *data, int64_t count, DType type) const {
  auto options = at::TensorOptions(scalarType(type)).device(stream.device());
  return at::for_blob(const_cast<void *>(data), {count})
      .options(options)
      .target_device(stream.device())
      .make_tensor();
}

template <typename Start> void NcclGroup::queue(const char *operation, Site site, Start start) {
  try {
    c10::cuda::CUDAStreamGuard current(stream);
    c10::intrusive_ptr<c10d::Work> work = start();
    if (deferTo < 0)
      work->wait(); // blocks the stream, not the host
    else
      deferred[deferTo] = work;
    deferTo = -1;
    if (!isCaptured(stream))
      pending.push_back({work, operation, site});
  } catch (const std::exception &error) {
    throw makeFailure(*this, operation, site, firstLine(error), 0);
  }
}

void NcclGroup::retire(std::chrono::duration<double> waited) {
  while (!pending.empty() && pending.front().work->isCompleted()) {
    auto [work, operation, site] = pending.front();
    pending.pop_front();
    if (!work->exception())
      continue;
    try {
      std::rethrow_exception(work->exception());
    } catch (const std::exception &error) {
      throw makeFailure(*this, operation, site, firstLine(error), waited.count());
    }
  }
}

void NcclGroup::checkPeers(std::chrono::duration<double> waited) {
  retire(waited);
  if (pending.empty() || waited < timeout)
    return;
  throw makeFailure(*this, pending.front().operation, pending.front().site,
                    "timed out waiting for the other ranks", waited.count());
}

void NcclGroup::allReduce(void *data, int64_t count, DType type, Reduction op, Site site) {
  if (count == 0)
    return;
  queue("all_reduce", site, [&] {
    std::vector<at::Tensor> tensors{view(data, count, type)};
    c10d::AllreduceOptions options;
    options.reduceOp = reduction(op);
    return nccl->allreduce(tensors, options);
  });
}

void NcclGroup::allGather(const void *input, void *output, int64_t count, DType type, Site site) {
  if (count == 0)
    return;
  queue("all_gather", site, [&] {
    at::Tensor from = view(input, count, type), to = view(output, count * size(), type);
    return nccl->_allgather_base(to, from);
  });
}

void NcclGroup::reduceScatter(const void *input, void *output, int64_t count, DType type,
                              Reduction op, Site site) {
  if (count == 0)
    return;
  queue("reduce_scatter", site, [&] {
    at::Tensor from = view(input, count * size(), type), to = view(output, count, type);
    c10d::ReduceScatterOptions options;
    options.reduceOp = reduction(op);
    return nccl->_reduce_scatter_base(to, from, options);
  });
}

void NcclGroup::allToAll(const void *input, void *output, int64_t count, DType type, Site site) {
  if (count == 0)
    return;
  queue("all_to_all", site, [&] {
    at::Tensor from = view(input, count * size(), type), to = view(output, count * size(), type);
    std::vector<int64_t> even;
    return nccl->alltoall_base(to, from, even, even);
  });
}

void NcclGroup::permute(const void *input, void *output, int64_t count, DType type, Shift shift,
                        Site site) {
  const CollectiveBuffer buffer{input, output, 1, count};
  if (count > 0)
    permute(std::span(&buffer, 1), type, shift, site);
}

void NcclGroup::broadcast(void *data, int64_t count, DType type, int root, Site site) {
  if (count == 0)
    return;
  queue("broadcast", site, [&] {
    std::vector<at::Tensor> tensors{view(data, count, type)};
    c10d::BroadcastOptions options;
    options.rootRank = root;
    return nccl->broadcast(tensors, options);
  });
}

void NcclGroup::barrier(Site site) {
  queue("barrier", site, [&] {
    c10d::BarrierOptions options;
    options.device_ids = {stream.device_index()};
    return nccl->barrier(options);
  });
}

void NcclGroup::waitAsync(int channel) {
  auto found = deferred.find(channel);
  if (found == deferred.end())
    return;
  c10::cuda::CUDAStreamGuard current(stream);
  found->second->wait();
  deferred.erase(found);
}

// Coalesced collectives

bool NcclGroup::supportsUnpacked(std::span<const CollectiveBuffer> buffers) const {
  return std::all_of(buffers.begin(), buffers.end(), [](const CollectiveBuffer &buffer) {
    return buffer.outer == 1 && buffer.block > 0;
  });
}

std::vector<at::Tensor> NcclGroup::views(std::span<const CollectiveBuffer> buffers, bool isOutput,
                                         int64_t blocks, DType type) const {
  std::vector<at::Tensor> result;
  for (const CollectiveBuffer &buffer : buffers)
    result.push_back(view(isOutput ? buffer.out : buffer.in, buffer.block * blocks, type));
  return result;
}

void NcclGroup::allReduce(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                          Site site) {
  queue("all_reduce", site, [&] {
    auto tensors = views(buffers, /*isOutput=*/true, 1, type);
    c10d::AllreduceCoalescedOptions options;
    options.reduceOp = reduction(op);
    return nccl->allreduce_coalesced(tensors, options);
  });
}

void NcclGroup::allGather(std::span<const CollectiveBuffer> buffers, DType type, Site site) {
  queue("all_gather", site, [&] {
    auto from = views(buffers, /*isOutput=*/false, 1, type),
         to = views(buffers, /*isOutput=*/true, size(), type);
    return nccl->allgather_into_tensor_coalesced(to, from);
  });
}

void NcclGroup::reduceScatter(std::span<const CollectiveBuffer> buffers, DType type, Reduction op,
                              Site site) {
  queue("reduce_scatter", site, [&] {
    auto from = views(buffers, /*isOutput=*/false, size(), type),
         to = views(buffers, /*isOutput=*/true, 1, type);
    c10d::ReduceScatterOptions options;
    options.reduceOp = reduction(op);
    return nccl->reduce_scatter_tensor_coalesced(to, from, options);
  });
}

/// An all-to-all that sends everything to one member: NCCL groups the send and the receive, so that
/// neither waits for the other.
void NcclGroup::permute(std::span<const CollectiveBuffer> buffers, DType type, Shift shift,
                        Site site) {
  const int target = shift.target(rank(), size()), source = shift.source(rank(), size());
  queue("permute", site, [&] {
    auto start = [&](const CollectiveBuffer &buffer) {
      const int64_t count = buffer.outer * buffer.block;
      std::vector<int64_t> sent(size()), received(size());
      if (target != Shift::kNobody)
        sent[target] = count;
      if (source != Shift::kNobody)
        received[source] = count;
      at::Tensor from = view(buffer.in, target == Shift::kNobody ? 0 : count, type);
      at::Tensor to = view(buffer.out, source == Shift::kNobody ? 0 : count, type);
      return nccl->alltoall_base(to, from, received, sent);
    };
    if (buffers.size() == 1)
      return start(buffers[0]);
    nccl->startCoalescing();
    for (const CollectiveBuffer &buffer : buffers)
      start(buffer);
    return nccl->endCoalescing();
  });
}

} // namespace

std::unique_ptr<DeviceGroup> makeNcclGroup(World &world, const std::vector<int> &ranks,
                                           int position, cudaStream_t stream, int device) {
  return std::make_unique<NcclGroup>(
      world, ranks, position,
      c10::cuda::getStreamFromExternal(stream, static_cast<c10::DeviceIndex>(device)));
}

} // namespace titan::rt
