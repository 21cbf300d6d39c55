//===- PlanHandovers.cpp - Which stacks may lie over one another ----------===//
//
// Conservatively: only where, while the repeat runs, the buffers hold nothing but the two stacks,
// and each iteration touches no slot but its own.
//
//===----------------------------------------------------------------------===//

#include "dialects/titan/IR/TypeOf.h"
#include "dialects/titan/Transforms/Memory/Handovers.h"
#include "dialects/titan/Transforms/Memory/Planner.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

namespace {

/// A buffer that is a stack of the repeat, with the slot of each iteration, in the order in which
/// they run.
struct StackUse {
  int64_t buffer, numSlots;
  arena::Slots slots;
};

StackUse makeUse(PlaceAttr place, RepeatOp repeat, ArrayRef<int64_t> users) {
  IterationTable table = repeat.getIterations();
  StackUse use{place.getBuffer(), table.getCount(users), {}};
  for (int64_t slot : table.getSlots(users))
    use.slots.push_back(slot < 0 ? std::nullopt : std::optional(slot));
  if (repeat.getReverse())
    std::reverse(use.slots.begin(), use.slots.end());
  return use;
}

/// Stacks whose iterations have equal slots are one handover: they keep the same distances.
std::vector<arena::Handover> pairUp(ArrayRef<StackUse> emptied, ArrayRef<StackUse> filled) {
  std::vector<arena::Handover> handovers;
  std::vector<std::pair<const StackUse *, const StackUse *>> groups;
  auto getFirst = [](ArrayRef<StackUse> uses, const StackUse &use) {
    return llvm::find_if(uses, [&](const StackUse &other) { return other.slots == use.slots; });
  };
  for (const StackUse &from : emptied)
    for (const StackUse &to : filled) {
      std::pair group(getFirst(emptied, from), getFirst(filled, to));
      auto it = llvm::find(groups, group);
      size_t index = it - groups.begin();
      if (it == groups.end()) {
        groups.push_back(group);
        handovers.push_back({{}, {}, from.numSlots, to.numSlots, {}, {}});
        arena::findCorners(from.slots, to.slots, handovers.back());
      }
      auto add = [](std::vector<size_t> &list, size_t buffer) {
        if (!llvm::is_contained(list, buffer))
          list.push_back(buffer);
      };
      add(handovers[index].emptied, from.buffer);
      add(handovers[index].filled, to.buffer);
    }
  return handovers;
}

} // namespace

/// While `repeat` runs, all that lives in the buffer besides `stack` is the slot of the iteration.
bool Planner::holdsOwnSlots(RepeatOp repeat, Value stack) {
  PlaceAttr place = places.lookup(stack);
  if (place.getSpace() != MemorySpace::Transient || !place.getLevels().empty() ||
      !hasEqualRows(typeOf(stack)))
    return false;
  const Buffer &buffer = getBuffer(place);
  int64_t level = getLevel(repeat);
  return !buffer.pad && !buffer.per && buffer.type == stack.getType() &&
         llvm::all_of(buffer.values, [&](Value value) {
           if (value == stack)
             return true;
           if (!repeat->isAncestor(value.getParentBlock()->getParentOp()))
             return liveness.getLastUse(value) < liveness.getStart(repeat) ||
                    liveness.getDefinition(value) > liveness.getEnd(repeat);
           ArrayRef<int64_t> levels = places.lookup(value).getLevels();
           return !levels.empty() && levels.front() == level &&
                  (!value.getDefiningOp() || endsInBlock(value.getDefiningOp())) &&
                  llvm::all_of(value.getUsers(), endsInBlock);
         });
}

/// Nothing but one slice is read of the stack, which then is done with.
bool Planner::isEmptied(RepeatOp repeat, OpOperand &slice) {
  Value stack = slice.get();
  return holdsOwnSlots(repeat, stack) &&
         getBuffer(places.lookup(stack)).last == liveness.getEnd(repeat) &&
         llvm::all_of(stack.getUses(), [&](OpOperand &use) {
           return &use == &slice || !repeat->isAncestor(use.getOwner());
         });
}

/// Handovers are found by walking the iterations.
static constexpr int64_t kMostIterations = 65536;

void Planner::planHandovers(RepeatOp repeat) {
  // Filled ones first: a repeat over microbatches has none, and its iterations need not be listed.
  SmallVector<StackUse> emptied, filled;
  for (auto [i, stack] : llvm::enumerate(repeat.getStackedResults()))
    if (holdsOwnSlots(repeat, stack) &&
        getBuffer(places.lookup(stack)).first == liveness.getStart(repeat))
      filled.push_back(makeUse(places.lookup(stack), repeat, repeat.getStackUsers(i)));
  if (filled.empty() || repeat.getDim().getSize() > kMostIterations)
    return;
  for (auto [i, slice] : llvm::enumerate(repeat.getSlicesMutable()))
    if (isEmptied(repeat, slice))
      emptied.push_back(makeUse(places.lookup(slice.get()), repeat, repeat.getSliceUsers(i)));
  SmallVector<Attribute> packed;
  for (const arena::Handover &handover : pairUp(emptied, filled))
    packed.push_back(packHandover(context, handover));
  if (!packed.empty())
    repeat->setAttr(kHandovers, ArrayAttr::get(context, packed));
}
