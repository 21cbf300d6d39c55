//===- HandedOver.cpp - Slots that change hands in an iteration -----------===//

#include "compiler/interpreter/HandedOver.h"

#include "dialects/titan/IR/TypeOf.h"
#include "dialects/titan/Transforms/Memory/Handovers.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;

HandedOver::HandedOver(func::FuncOp function) {
  function.walk([&](ir::RepeatOp repeat) { collect(repeat); });
}

void HandedOver::collect(ir::RepeatOp repeat) {
  auto handovers = repeat->getAttrOfType<ArrayAttr>(memory::kHandovers);
  if (!handovers)
    return;
  for (Attribute attribute : handovers)
    if (auto handover = memory::unpackHandover(attribute); succeeded(handover)) {
      for (size_t buffer : handover->emptied)
        emptiers[buffer] = repeat;
      for (size_t buffer : handover->filled)
        fillers[buffer] = repeat;
    }
  auto add = [&](Stacks &stacks, const llvm::DenseMap<int64_t, Operation *> &repeats, Value stack,
                 ArrayRef<int64_t> users) {
    ir::PlaceAttr place = memory::getPlace(stack);
    if (place && place.getSpace() == ir::MemorySpace::Transient &&
        repeats.lookup(place.getBuffer()) == repeat)
      stacks[repeat].push_back({{place.getSlot(memory::getLevel(repeat), repeat, users),
                                 ir::RepeatOp::getSlotType(ir::typeOf(stack))},
                                SmallVector<int64_t>(users)});
  };
  for (auto [i, stack] : llvm::enumerate(repeat.getScannedInputs()))
    add(emptied, emptiers, stack, repeat.getScannedUsers(i));
  for (auto [i, stack] : llvm::enumerate(repeat.getStackedOutputs()))
    add(filled, fillers, stack, repeat.getStackedUsers(i));
}

SmallVector<HandedOver::Slot> HandedOver::getSlots(const Stacks &stacks,
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
