// A variant: one body of a repeat.

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan::ir;

int64_t RepeatVariant::getCount() const {
  return RepeatOp(repeat).getIterations().getCount(static_cast<int64_t>(number));
}

Block::BlockArgListType RepeatVariant::getIterArgs() const {
  return getBlock().getArguments().slice(1, RepeatOp(repeat).getNumIterArgs());
}

Block::BlockArgListType RepeatVariant::getScannedArgs() const {
  return getBlock().getArguments().drop_front(1 + RepeatOp(repeat).getNumIterArgs());
}

OperandRange RepeatVariant::getYieldedIterArgs() const {
  return getYield().getValues().take_front(RepeatOp(repeat).getNumIterArgs());
}

SmallVector<RepeatVariant::ScannedInput> RepeatVariant::getScannedInputs() const {
  RepeatOp op = repeat;
  SmallVector<ScannedInput> inputs;
  Block::BlockArgListType args = getScannedArgs();
  for (auto [i, input] : llvm::enumerate(op.getScannedInputs()))
    if (llvm::is_contained(op.getScannedUsers(i), number))
      inputs.push_back({input, args[inputs.size()], static_cast<unsigned>(i)});
  return inputs;
}

SmallVector<RepeatVariant::StackedOutput> RepeatVariant::getStackedOutputs() const {
  RepeatOp op = repeat;
  SmallVector<StackedOutput> outputs;
  OperandRange yielded = getYield().getValues();
  unsigned next = op.getNumIterArgs();
  for (auto [i, output] : llvm::enumerate(op.getStackedOutputs()))
    if (llvm::is_contained(op.getStackedUsers(i), number)) {
      outputs.push_back({yielded[next], cast<OpResult>(output), next});
      ++next;
    }
  return outputs;
}

std::optional<RepeatVariant> titan::ir::findVariant(Block *block) {
  auto repeat = dyn_cast_or_null<RepeatOp>(block->getParentOp());
  if (!repeat)
    return std::nullopt;
  return RepeatVariant(repeat, block->getParent()->getRegionNumber());
}

int64_t titan::ir::countExecutions(Operation *op) {
  int64_t times = 1;
  for (Block *block = op->getBlock(); block; block = block->getParentOp()->getBlock())
    if (std::optional<RepeatVariant> body = findVariant(block))
      times *= body->getCount();
  return times;
}
