// The table that selects the variant of each iteration.

#include "dialects/titan/IR/IterationTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace titan::ir;

SmallVector<int64_t> IterationTable::getIterations(ArrayRef<int64_t> users) const {
  SmallVector<int64_t> found;
  for (int64_t iteration = 0; iteration < iterations; ++iteration)
    if (is_contained(users, getVariant(iteration)))
      found.push_back(iteration);
  return found;
}

int64_t IterationTable::getCount(ArrayRef<int64_t> users) const {
  if (variants.empty())
    return is_contained(users, 0) ? iterations : 0;
  return count_if(variants, [&](int64_t variant) { return is_contained(users, variant); });
}

SmallVector<int64_t> IterationTable::getSlots(ArrayRef<int64_t> users) const {
  SmallVector<int64_t> slots(iterations, -1);
  for (auto [slot, iteration] : enumerate(getIterations(users)))
    slots[iteration] = slot;
  return slots;
}
