// Slots of memory for values that are live during some calls of a step. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace titan::pipeline {

/// The calls during which a value needs a slot, both included.
struct Occupation {
  size_t begin, end;
};

struct SlotAssignment {
  std::vector<int64_t> slotOf; ///< per value
  int64_t count = 0;           ///< the greatest number of values that need a slot at once
};

/// Gives each value the lowest slot that is free. Values are in the order of their beginnings.
SlotAssignment assignSlots(const std::vector<Occupation> &values);

} // namespace titan::pipeline
