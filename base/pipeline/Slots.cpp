#include "base/pipeline/Slots.h"

#include <algorithm>

namespace titan::pipeline {

SlotAssignment assignSlots(const std::vector<Occupation> &values) {
  SlotAssignment assignment;
  std::vector<size_t> ends; // of the last value of each slot
  for (const Occupation &value : values) {
    auto slot =
        std::find_if(ends.begin(), ends.end(), [&](size_t end) { return end < value.begin; });
    if (slot == ends.end())
      slot = ends.insert(slot, value.end);
    *slot = value.end;
    assignment.slotOf.push_back(slot - ends.begin());
  }
  assignment.count = static_cast<int64_t>(ends.size());
  return assignment;
}

} // namespace titan::pipeline
