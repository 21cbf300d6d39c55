// Finds the stacks of a repeat that may share memory.
//
// Conservative: while the repeat runs, the allocations must contain only the two stacks, and each
// iteration must access only its own slots.

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Transforms/Memory/Planner.h"
#include "dialects/titan/Transforms/Memory/StackOverlaps.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

namespace {

/// An allocation that is a stack of the repeat, with the slot of each iteration in execution order.
struct StackUse {
  int64_t allocation, numSlots;
  arena::Slots slots;
};

StackUse makeUse(AllocRefAttr ref, RepeatOp repeat, ArrayRef<int64_t> users) {
  IterationTable table = repeat.getIterations();
  StackUse use{ref.getIndex(), table.getCount(users), {}};
  for (int64_t slot : table.getSlots(users))
    use.slots.push_back(slot < 0 ? std::nullopt : std::optional(slot));
  if (repeat.getReverse())
    std::reverse(use.slots.begin(), use.slots.end());
  return use;
}

/// Pairs of stacks with equal slots per iteration form one stack overlap, because their constraints
/// are equal.
std::vector<arena::StackOverlap> pairUp(ArrayRef<StackUse> consumed, ArrayRef<StackUse> produced) {
  std::vector<arena::StackOverlap> stackOverlaps;
  std::vector<std::pair<const StackUse *, const StackUse *>> groups;
  auto getFirst = [](ArrayRef<StackUse> uses, const StackUse &use) {
    return llvm::find_if(uses, [&](const StackUse &other) { return other.slots == use.slots; });
  };
  for (const StackUse &from : consumed)
    for (const StackUse &to : produced) {
      std::pair group(getFirst(consumed, from), getFirst(produced, to));
      auto it = llvm::find(groups, group);
      size_t index = it - groups.begin();
      if (it == groups.end()) {
        groups.push_back(group);
        stackOverlaps.push_back({{}, {}, from.numSlots, to.numSlots, {}, {}});
        arena::findConstraints(from.slots, to.slots, stackOverlaps.back());
      }
      auto add = [](std::vector<size_t> &list, size_t allocation) {
        if (!llvm::is_contained(list, allocation))
          list.push_back(allocation);
      };
      add(stackOverlaps[index].consumed, from.allocation);
      add(stackOverlaps[index].produced, to.allocation);
    }
  return stackOverlaps;
}

} // namespace

/// True if, while `repeat` runs, the allocation contains only `stack` and each iteration uses only
/// its own slot.
bool Planner::usesOwnSlotsOnly(RepeatOp repeat, Value stack) {
  AllocRefAttr ref = refs.lookup(stack);
  if (ref.getSpace() != MemorySpace::Transient || !ref.getLevels().empty() ||
      !hasEqualSlots(getTensorType(stack)))
    return false;
  const Allocation &allocation = getAllocation(ref);
  int64_t level = getLevel(repeat);
  return !allocation.pad && !allocation.per && allocation.type == stack.getType() &&
         llvm::all_of(allocation.values, [&](Value value) {
           if (value == stack)
             return true;
           if (!repeat->isAncestor(value.getParentBlock()->getParentOp()))
             return liveness.getLastUse(value) < liveness.getStart(repeat) ||
                    liveness.getDefinition(value) > liveness.getEnd(repeat);
           ArrayRef<int64_t> levels = refs.lookup(value).getLevels();
           return !levels.empty() && levels.front() == level &&
                  (!value.getDefiningOp() || endsInBlock(value.getDefiningOp())) &&
                  llvm::all_of(value.getUsers(), endsInBlock);
         });
}

/// True if `scanned` is the last use of its stack.
bool Planner::isConsumed(RepeatOp repeat, OpOperand &scanned) {
  Value stack = scanned.get();
  return usesOwnSlotsOnly(repeat, stack) &&
         getAllocation(refs.lookup(stack)).last == liveness.getEnd(repeat) &&
         llvm::all_of(stack.getUses(), [&](OpOperand &use) {
           return &use == &scanned || !repeat->isAncestor(use.getOwner());
         });
}

/// Longer repeats have no stack overlaps, because the planner walks all iterations to find their
/// constraints.
static constexpr int64_t kMaxIterations = 65536;

void Planner::planStackOverlaps(RepeatOp repeat) {
  // Produced stacks first: a repeat over microbatches has none, so that its iterations are not
  // listed.
  SmallVector<StackUse> consumed, produced;
  for (auto [i, stack] : llvm::enumerate(repeat.getStackedOutputs()))
    if (usesOwnSlotsOnly(repeat, stack) &&
        getAllocation(refs.lookup(stack)).first == liveness.getStart(repeat))
      produced.push_back(makeUse(refs.lookup(stack), repeat, repeat.getStackedUsers(i)));
  if (produced.empty() || repeat.getDim().getSize() > kMaxIterations)
    return;
  for (auto [i, scanned] : llvm::enumerate(repeat.getScannedInputsMutable()))
    if (isConsumed(repeat, scanned))
      consumed.push_back(makeUse(refs.lookup(scanned.get()), repeat, repeat.getScannedUsers(i)));
  SmallVector<Attribute> packed;
  for (const arena::StackOverlap &overlap : pairUp(consumed, produced))
    packed.push_back(packStackOverlap(context, overlap));
  if (!packed.empty())
    repeat->setAttr(kStackOverlaps, ArrayAttr::get(context, packed));
}
