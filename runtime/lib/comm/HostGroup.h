// Base class of the transports in host memory, which implement coalesced collectives only.
#pragma once

#include "Comm.h"

namespace titan::rt {

/// The elements of one member in all buffers.
inline int64_t countElements(std::span<const CollectiveBuffer> buffers) {
  int64_t count = 0;
  for (const CollectiveBuffer &buffer : buffers)
    count += buffer.outer * buffer.block;
  return count;
}

class HostGroup : public Group {
public:
  using Group::allGather;
  using Group::allReduce;
  using Group::permute;
  using Group::reduceScatter;

  void allReduce(void *data, int64_t count, DType type, Reduction op, Site site) final {
    const CollectiveBuffer buffer{data, data, 1, count};
    allReduce(std::span(&buffer, 1), type, op, site);
  }
  void allGather(const void *input, void *output, int64_t count, DType type, Site site) final {
    const CollectiveBuffer buffer{input, output, 1, count};
    allGather(std::span(&buffer, 1), type, site);
  }
  void reduceScatter(const void *input, void *output, int64_t count, DType type, Reduction op,
                     Site site) final {
    const CollectiveBuffer buffer{input, output, 1, count};
    reduceScatter(std::span(&buffer, 1), type, op, site);
  }
  void permute(const void *input, void *output, int64_t count, DType type, Shift shift,
               Site site) final {
    const CollectiveBuffer buffer{input, output, 1, count};
    permute(std::span(&buffer, 1), type, shift, site);
  }

protected:
  using Group::Group;
};

} // namespace titan::rt
