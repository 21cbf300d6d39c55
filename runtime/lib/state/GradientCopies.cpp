#include "GradientCopies.h"

#include "base/arena/ArenaConflicts.h"

#include <algorithm>

namespace titan::rt {

GradientCopies::GradientCopies(Device &device, const std::map<const Tensor *, int64_t> &sizes)
    : device(device) {
  for (const auto &[tensor, bytes] : sizes) {
    ranges[tensor] = {size, bytes};
    size += arena::alignTo(bytes, arena::kArenaAlignment);
  }
  size = std::max(size, arena::kArenaAlignment);
  memory = device.allocate(size);
}

GradientCopies::~GradientCopies() {
  device.release(memory, size);
}

void GradientCopies::copy(const Tensor &tensor, const std::byte *from) {
  const int64_t bytes = ranges.at(&tensor).bytes;
  device.copyBlocks(from, bytes, getData(tensor), bytes, 1, bytes);
}

} // namespace titan::rt
