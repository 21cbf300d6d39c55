//===- Activity.cpp - Which values need a cotangent -----------------------===//

#include "dialects/titan/Transforms/Gradient/Activity.h"
#include "dialects/titan/Transforms/Gradient/Programs.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace titan::ir;

Activity::Activity(func::FuncOp function) {
  for (BlockArgument arg : function.getArguments())
    mark(arg, isTrained(function, arg.getArgNumber()));
  visit(function.getBody().front());
}

bool Activity::mark(Value value, bool source) {
  auto type = dyn_cast<NamedTensorType>(value.getType());
  return source && type && isa<FloatType>(type.getElementType()) && active.insert(value).second;
}

void Activity::replace(Value value, Value copy) {
  if (active.erase(value))
    active.insert(copy);
}

void Activity::visit(Block &block) {
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      visit(repeat);
      continue;
    }
    bool source = !isa<StopGradientOp>(op) &&
                  llvm::any_of(op.getOperands(), [&](Value operand) { return isActive(operand); });
    for (Value result : op.getResults())
      mark(result, source);
  }
}

void Activity::visit(RepeatOp repeat) {
  for (auto [slice, arg] : llvm::zip_equal(repeat.getSlices(), repeat.getSliceArgs()))
    mark(arg, isActive(slice));
  for (auto [init, arg] : llvm::zip_equal(repeat.getInits(), repeat.getCarriedArgs()))
    mark(arg, isActive(init));
  bool changed = true;
  while (changed) {
    changed = false;
    visit(repeat.getBody().front());
    OperandRange yielded = repeat.getYield().getValues();
    for (auto [value, arg] :
         llvm::zip_equal(yielded.take_front(repeat.getNumCarried()), repeat.getCarriedArgs()))
      changed |= mark(arg, isActive(value));
  }
  for (auto [value, result] : llvm::zip_equal(repeat.getYield().getValues(), repeat.getResults()))
    mark(result, isActive(value));
  // With no iteration left the carried result is the initial value.
  for (auto [init, result] : llvm::zip_equal(repeat.getInits(), repeat.getCarriedResults()))
    mark(result, isActive(init));
}

/// Adds to `useful` what the operations of `block` need to compute values that are in it.
static void collectUseful(Block &block, DenseSet<Value> &useful) {
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (llvm::none_of(op.getResults(), [&](Value result) { return useful.contains(result); }))
      continue;
    useful.insert(op.operand_begin(), op.operand_end());
    visitUsedValuesDefinedAbove(op.getRegions(),
                                [&](OpOperand *used) { useful.insert(used->get()); });
  }
}

SmallVector<bool> titan::ir::findReachingCarries(RepeatOp repeat, ArrayRef<Value> cotangents) {
  DenseSet<Value> useful;
  for (auto [value, cotangent] : llvm::zip_equal(repeat.getYield().getValues(), cotangents))
    if (cotangent)
      useful.insert(value);
  SmallVector<bool> reaching(repeat.getNumCarried());
  for (unsigned i = 0; i < reaching.size(); ++i)
    reaching[i] = static_cast<bool>(cotangents[i]);
  bool changed = true;
  while (changed) {
    changed = false;
    collectUseful(repeat.getBody().front(), useful);
    for (unsigned i = 0; i < reaching.size(); ++i) {
      if (reaching[i] || !useful.contains(repeat.getCarriedArgs()[i]))
        continue;
      reaching[i] = changed = true;
      useful.insert(repeat.getYield().getValues()[i]);
    }
  }
  return reaching;
}
