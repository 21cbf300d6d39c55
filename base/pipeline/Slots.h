// Slots of memory for values that are live during some calls of a step. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace titan::pipeline {

/// The first and the last call during which a value needs a slot.
struct Occupation {
  size_t begin, end;
};

struct SlotAssignment {
  std::vector<int64_t> slotOf; ///< per value
  int64_t count = 0;           ///< the greatest number of values that need a slot at once
};

/// Gives each value the lowest slot that is free. Requires values by ascending first call.
SlotAssignment assignSlots(const std::vector<Occupation> &values);

} // namespace titan::pipeline
