// A group to which one value is a list of one: what transports on processors have in common.
#pragma once

#include "Comm.h"

namespace titan::rt {

inline int64_t countElements(std::span<const Share> shares) {
  int64_t count = 0;
  for (const Share &share : shares)
    count += share.outer * share.block;
  return count;
}

class SharesGroup : public Group {
public:
  using Group::allGather;
  using Group::allReduce;
  using Group::reduceScatter;

  void allReduce(void *data, int64_t count, DType type, Reduction op, Site site) final {
    const Share share{data, data, 1, count};
    allReduce(std::span(&share, 1), type, op, site);
  }
  void allGather(const void *input, void *output, int64_t count, DType type, Site site) final {
    const Share share{input, output, 1, count};
    allGather(std::span(&share, 1), type, site);
  }
  void reduceScatter(const void *input, void *output, int64_t count, DType type, Reduction op,
                     Site site) final {
    const Share share{input, output, 1, count};
    reduceScatter(std::span(&share, 1), type, op, site);
  }

protected:
  using Group::Group;
};

} // namespace titan::rt
