//===- RepeatVariant.cpp - One body of a repeat ---------------------------===//

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan::ir;

int64_t RepeatVariant::getCount() const {
  return RepeatOp(repeat).getIterations().getCount(static_cast<int64_t>(number));
}

Block::BlockArgListType RepeatVariant::getCarriedArgs() const {
  return getBlock().getArguments().slice(1, RepeatOp(repeat).getNumCarried());
}

Block::BlockArgListType RepeatVariant::getSliceArgs() const {
  return getBlock().getArguments().drop_front(1 + RepeatOp(repeat).getNumCarried());
}

OperandRange RepeatVariant::getYieldedCarried() const {
  return getYield().getValues().take_front(RepeatOp(repeat).getNumCarried());
}

SmallVector<RepeatVariant::Slice> RepeatVariant::getSlices() const {
  RepeatOp op = repeat;
  SmallVector<Slice> slices;
  Block::BlockArgListType args = getSliceArgs();
  for (auto [i, stack] : llvm::enumerate(op.getSlices()))
    if (llvm::is_contained(op.getSliceUsers(i), number))
      slices.push_back({stack, args[slices.size()], static_cast<unsigned>(i)});
  return slices;
}

SmallVector<RepeatVariant::Stack> RepeatVariant::getStacks() const {
  RepeatOp op = repeat;
  SmallVector<Stack> stacks;
  OperandRange yielded = getYield().getValues();
  unsigned next = op.getNumCarried();
  for (auto [i, stack] : llvm::enumerate(op.getStackedResults()))
    if (llvm::is_contained(op.getStackUsers(i), number)) {
      stacks.push_back({yielded[next], cast<OpResult>(stack), next});
      ++next;
    }
  return stacks;
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
