// Copies of gradients, which are valid until another function runs. The fragments of a pipeline
// compute them one after the other.
#pragma once

#include "device/Device.h"

#include <map>

namespace titan::rt {

class GradientCopies {
public:
  /// The tensors and their bytes on this rank.
  GradientCopies(Device &device, const std::map<const Tensor *, int64_t> &sizes);
  ~GradientCopies();
  GradientCopies(const GradientCopies &) = delete;
  GradientCopies &operator=(const GradientCopies &) = delete;

  std::byte *getData(const Tensor &tensor) const { return memory + ranges.at(&tensor).offset; }
  void copy(const Tensor &tensor, const std::byte *from);

private:
  struct Range {
    int64_t offset, bytes;
  };
  Device &device;
  std::map<const Tensor *, Range> ranges;
  int64_t size = 0;
  std::byte *memory = nullptr;
};

} // namespace titan::rt
