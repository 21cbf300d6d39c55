// Stacks that share memory within a repeat.

#include "compiler/interpreter/OverlappedStacks.h"

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/StackOverlaps.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;

OverlappedStacks::OverlappedStacks(func::FuncOp function) {
  function.walk([&](ir::RepeatOp repeat) { collect(repeat); });
}

void OverlappedStacks::collect(ir::RepeatOp repeat) {
  auto stackOverlaps = repeat->getAttrOfType<ArrayAttr>(memory::kStackOverlaps);
  if (!stackOverlaps)
    return;
  for (Attribute attribute : stackOverlaps)
    if (auto overlap = memory::unpackStackOverlap(attribute); succeeded(overlap)) {
      for (size_t allocation : overlap->consumed)
        consumers[allocation] = repeat;
      for (size_t allocation : overlap->produced)
        producers[allocation] = repeat;
    }
  auto add = [&](Stacks &stacks, const llvm::DenseMap<int64_t, Operation *> &repeats, Value stack,
                 ArrayRef<int64_t> users) {
    ir::AllocRefAttr ref = memory::getAllocRef(stack);
    if (ref && ref.getSpace() == ir::MemorySpace::Transient &&
        repeats.lookup(ref.getIndex()) == repeat)
      stacks[repeat].push_back({{ref.getSlot(memory::getLevel(repeat), repeat, users),
                                 ir::RepeatOp::getSlotType(ir::getTensorType(stack))},
                                SmallVector<int64_t>(users)});
  };
  for (auto [i, stack] : llvm::enumerate(repeat.getScannedInputs()))
    add(consumed, consumers, stack, repeat.getScannedUsers(i));
  for (auto [i, stack] : llvm::enumerate(repeat.getStackedOutputs()))
    add(produced, producers, stack, repeat.getStackedUsers(i));
}

SmallVector<OverlappedStacks::Slot> OverlappedStacks::getSlots(const Stacks &stacks,
                                                               ArrayRef<Memory::Loop> loops) {
  SmallVector<Slot> slots;
  ir::RepeatOp repeat = loops.back().repeat;
  int64_t variant = repeat.getIterations().getVariant(loops.back().index);
  if (auto found = stacks.find(repeat); found != stacks.end())
    for (const Stack &stack : found->second)
      if (llvm::is_contained(stack.users, variant))
        slots.push_back(stack.slot);
  return slots;
}
