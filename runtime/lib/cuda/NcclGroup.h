// Collectives between devices by c10d's NCCL process group. A call only enqueues; events order it
// after the earlier work of the program's stream and before the later work. Failures and missing
// peers show when the host waits for the stream (checkPeers). This header includes none of
// LibTorch's, which add ten seconds to the compilation of a file.
#pragma once

#include "comm/Comm.h"

#include <chrono>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

namespace titan::rt {

/// A group whose collectives are queued on a device.
class DeviceGroup : public Group {
public:
  using Group::Group;

  /// Throws if the first pending collective has failed, or if the host has waited longer than the
  /// group's timeout.
  virtual void checkPeers(std::chrono::duration<double> waited) = 0;
};

/// The group of these ranks, with this rank at `position`; `stream` is the program's stream on
/// device `device`.
std::unique_ptr<DeviceGroup> makeNcclGroup(World &world, const std::vector<int> &ranks,
                                           int position, cudaStream_t stream, int device);

} // namespace titan::rt
