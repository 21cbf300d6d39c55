// The group of a single process: every collective is a copy or nothing. Programs can thus run
// collectives over axes of degree one without branches.
#pragma once

#include "Comm.h"

#include <cstring>

namespace titan::rt {

class SelfGroup final : public Group {
public:
  explicit SelfGroup(int rank) : Group({rank}, 0) {}

  void allReduce(void *, int64_t, DType, Reduction, Site) override {}
  void allGather(const void *input, void *output, int64_t count, DType type, Site) override {
    copy(input, output, count, type);
  }
  void reduceScatter(const void *input, void *output, int64_t count, DType type, Reduction,
                     Site) override {
    copy(input, output, count, type);
  }
  void allToAll(const void *input, void *output, int64_t count, DType type, Site) override {
    copy(input, output, count, type);
  }
  void permute(const void *input, void *output, int64_t count, DType type, Shift shift,
               Site) override {
    if (shift.source(0, 1) == 0)
      copy(input, output, count, type);
  }
  void broadcast(void *, int64_t, DType, int, Site) override {}
  void barrier(Site) override {}

  bool supportsUnpacked(std::span<const CollectiveBuffer>) const override { return true; }
  void allReduce(std::span<const CollectiveBuffer>, DType, Reduction, Site) override {}
  void allGather(std::span<const CollectiveBuffer> buffers, DType type, Site) override {
    for (const CollectiveBuffer &buffer : buffers)
      copy(buffer.in, buffer.out, buffer.outer * buffer.block, type);
  }
  void reduceScatter(std::span<const CollectiveBuffer> buffers, DType type, Reduction,
                     Site site) override {
    allGather(buffers, type, site);
  }
  void permute(std::span<const CollectiveBuffer> buffers, DType type, Shift shift,
               Site site) override {
    for (const CollectiveBuffer &buffer : buffers)
      permute(buffer.in, buffer.out, buffer.outer * buffer.block, type, shift, site);
  }

private:
  static void copy(const void *input, void *output, int64_t count, DType type) {
    if (count > 0 && input != output)
      std::memcpy(output, input, count * getByteSize(type));
  }
};

} // namespace titan::rt
