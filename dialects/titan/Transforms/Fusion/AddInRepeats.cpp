// The pass --titan-add-in-repeats: adds the slots of a stack in the repeat that computes them.

#include "dialects/dist/Support/RepeatEdit.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Transforms/Fusion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::fusion {
#define GEN_PASS_DEF_TITANADDINREPEATS
#include "dialects/titan/Transforms/Fusion/Passes.h.inc"
} // namespace titan::fusion

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// A stack that a repeat computes, and the sum of the stack and a value from before the repeat.
struct StackSum {
  AddOp add;
  Value previous;
  unsigned result; ///< number of the stack among the results of the repeat
};

/// Whether `value` exists before `repeat`. A sum must be its only use, so that the sum may replace
/// it.
bool isAvailable(Value value, RepeatOp repeat) {
  if (!value.hasOneUse())
    return false;
  Operation *op = value.getDefiningOp();
  return !op || (op->getBlock() == repeat->getBlock() && op->isBeforeInBlock(repeat));
}

SmallVector<StackSum> findSums(RepeatOp repeat) {
  SmallVector<StackSum> sums;
  for (OpResult stack : repeat.getStackedOutputs()) {
    auto add = stack.hasOneUse() ? dyn_cast<AddOp>(*stack.getUsers().begin()) : AddOp();
    if (!add || add->getBlock() != repeat->getBlock() ||
        llvm::any_of(add->getOperandTypes(), [&](Type type) { return type != stack.getType(); }))
      continue;
    Value previous = add->getOperand(add->getOperand(0) == stack ? 1 : 0);
    if (isAvailable(previous, repeat))
      sums.push_back({add, previous, stack.getResultNumber()});
  }
  return sums;
}

/// Lets the bodies of `repeat` add the slots of the sums.
void addSlots(RepeatOp repeat, ArrayRef<StackSum> sums) {
  SmallVector<dist::VariantStack> stacks;
  for (const StackSum &sum : sums)
    stacks.push_back({sum.previous, repeat.getStackedUsers(sum.result - repeat.getNumIterArgs())});
  const unsigned numBefore = repeat.getScannedInputs().size();
  repeat = dist::addScannedInputs(repeat, stacks);
  for (const RepeatVariant &body : repeat.getVariants()) {
    DenseMap<unsigned, std::pair<Value, unsigned>> yielded; // and its operand, by result
    for (auto [value, stack, operand] : body.getStackedOutputs())
      yielded[stack.getResultNumber()] = {value, operand};
    for (auto [stack, slot, number] : body.getScannedInputs()) {
      if (number < numBefore)
        continue;
      StackSum sum = sums[number - numBefore];
      auto [value, operand] = yielded.lookup(sum.result);
      OpBuilder builder(body.getYield());
      Value next = builder.create<AddOp>(sum.add.getLoc(), slot.getType(), slot, value);
      body.getYield()->setOperand(operand, next);
    }
  }
  for (StackSum sum : sums) {
    sum.add->getResult(0).replaceAllUsesWith(repeat.getResult(sum.result));
    sum.add->erase();
  }
}

struct AddInRepeats : titan::fusion::impl::TitanAddInRepeatsBase<AddInRepeats> {
  void runOnOperation() override {
    SmallVector<RepeatOp> repeats;
    getOperation().walk([&](RepeatOp repeat) { repeats.push_back(repeat); });
    for (RepeatOp repeat : repeats)
      if (SmallVector<StackSum> sums = findSums(repeat); !sums.empty()) {
        TITAN_COUNT(addedStacks, sums.size());
        addSlots(repeat, sums);
      }
  }
};

} // namespace
