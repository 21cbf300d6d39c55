// Copies of gradients in separate memory. A gradient itself is valid only until another function
// runs, and the fragments of a pipeline compute gradients one after the other.
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
