//===- IterationTable.cpp - Which body each iteration runs ----------------===//

#include "dialects/titan/IR/IterationTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace titan::ir;

SmallVector<int64_t> IterationTable::getIterations(ArrayRef<int64_t> users) const {
  SmallVector<int64_t> iterations;
  for (auto [iteration, variant] : enumerate(variants))
    if (is_contained(users, variant))
      iterations.push_back(iteration);
  return iterations;
}

SmallVector<int64_t> IterationTable::getSlots(ArrayRef<int64_t> users) const {
  SmallVector<int64_t> slots(variants.size(), -1);
  for (auto [slot, iteration] : enumerate(getIterations(users)))
    slots[iteration] = slot;
  return slots;
}
