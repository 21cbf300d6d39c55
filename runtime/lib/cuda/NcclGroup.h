// Collectives between devices by NCCL, queued on the program's stream: a call returns at once, and
// its failure shows when the host waits for the stream (checkPeers).
#pragma once

#include "titan/runtime/comm.h"

#include <cuda_runtime_api.h>
#include <nccl.h>

namespace titan::rt {

class NcclGroup final : public Group {
public:
  /// `host` connects the same ranks; it carries NCCL's identifier to them.
  NcclGroup(Group &host, cudaStream_t stream);
  ~NcclGroup() override;

  void allReduce(void *data, int64_t count, DType type, Reduction op, Site site) override;
  void allGather(const void *input, void *output, int64_t count, DType type, Site site) override;
  void reduceScatter(const void *input, void *output, int64_t count, DType type, Reduction op,
                     Site site) override;
  void allToAll(const void *input, void *output, int64_t count, DType type, Site site) override;
  void broadcast(void *data, int64_t count, DType type, int root, Site site) override;
  void barrier(Site site) override;

  /// Throws if a queued collective has failed, naming the last one.
  void checkPeers();

private:
  void queued(ncclResult_t result, const char *operation, Site site);

  cudaStream_t stream;
  ncclComm_t communicator = nullptr;
  Site last;
};

} // namespace titan::rt
