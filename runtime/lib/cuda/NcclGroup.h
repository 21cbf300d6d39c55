// Collectives between devices by c10d's NCCL process group. A call only enqueues; events order it
// after the earlier work of the program's stream and before the later work. Failures and missing
// peers show when the host waits for the stream (checkPeers).
#pragma once

#include "comm/Comm.h"

#include <deque>
#include <map>

#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace titan::rt {

class NcclGroup final : public Group {
public:
  /// The group of these ranks, with this rank at `position`; `stream` is the program's stream.
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

  /// Throws if the first pending collective has failed, or if the host has waited longer than the
  /// group's timeout.
  void checkPeers(std::chrono::duration<double> waited);

private:
  struct Queued {
    c10::intrusive_ptr<c10d::Work> work;
    const char *operation;
    Site site;
  };

  at::Tensor view(const void *data, int64_t count, DType type) const;
  /// Views of the buffers' inputs or outputs, with `parts` blocks each.
  std::vector<at::Tensor> views(std::span<const CollectiveBuffer> buffers, bool written,
                                int64_t shards, DType type) const;
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

} // namespace titan::rt
