// The linear order of a function's events.

#include "dialects/titan/Transforms/Memory/Liveness.h"
#include "dialects/titan/Support/Views.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

Liveness::Liveness(FunctionOpInterface function) {
  number(function.getFunctionBody().front());
}

void Liveness::number(Block &block) {
  for (Operation &op : block) {
    start[&op] = next++;
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      for (Region &body : repeat.getBodies())
        number(body.front());
      ++next;
    }
    end[&op] = next - 1;
  }
}

int64_t Liveness::getDefinition(Value value) const {
  if (Operation *op = value.getDefiningOp())
    return isa<RepeatOp>(op) ? getEnd(op) : getStart(op);
  Operation *parent = cast<BlockArgument>(value).getOwner()->getParentOp();
  return isa<RepeatOp>(parent) ? getStart(parent) : 0;
}

int64_t Liveness::getUse(OpOperand &use) const {
  Operation *user = use.getOwner();
  Block *block = use.get().getParentBlock();
  // A body copies its own arguments into stacks before it does anything else.
  if (isa<YieldOp>(user) && user->getBlock() == block && isa<BlockArgument>(use.get()))
    if (auto repeat = dyn_cast<RepeatOp>(user->getParentOp()))
      if (use.getOperandNumber() >= repeat.getNumIterArgs())
        return getStart(repeat);
  if (user->getBlock() != block)
    return getEnd(block->findAncestorOpInBlock(*user));
  auto repeat = dyn_cast<RepeatOp>(user);
  if (repeat && use.getOperandNumber() >= repeat.getNumIterArgs())
    return getEnd(user);
  return getStart(user);
}

int64_t Liveness::getLastUse(Value value) const {
  int64_t last = getDefinition(value);
  for (OpOperand &use : value.getUses()) {
    last = std::max(last, getUse(use));
    if (isView(use.getOwner()))
      last = std::max(last, getLastUse(use.getOwner()->getResult(0)));
  }
  return last;
}

bool memory::writesBeforeReading(RepeatOp repeat, OpResult stack, Value scanned) {
  for (const RepeatVariant &body : repeat.getVariants()) {
    auto isRead = [&](Value copied) {
      return llvm::any_of(body.getScannedInputs(), [&](const RepeatVariant::ScannedInput &input) {
        return input.input == scanned && input.slot != copied && !input.slot.use_empty();
      });
    };
    for (auto [value, output, operand] : body.getStackedOutputs()) {
      auto argument = dyn_cast<BlockArgument>(value);
      if (output == stack && argument && argument.getOwner() == &body.getBlock() &&
          isRead(argument))
        return true;
    }
  }
  return false;
}
