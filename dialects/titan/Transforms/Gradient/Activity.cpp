// Activity analysis of reverse mode.

#include "dialects/titan/Transforms/Gradient/Activity.h"
#include "dialects/titan/Support/Programs.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace titan::ir;

Activity::Activity(func::FuncOp function) {
  for (BlockArgument arg : function.getArguments())
    mark(arg, isTrained(function, arg.getArgNumber()));
  visit(function.getBody().front());
}

bool Activity::mark(Value value, bool dependsOnActive) {
  auto type = dyn_cast<NamedTensorType>(value.getType());
  return dependsOnActive && type && isa<FloatType>(type.getElementType()) &&
         active.insert(value).second;
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
    bool dependsOnActive =
        !isa<StopGradientOp>(op) &&
        llvm::any_of(op.getOperands(), [&](Value operand) { return isActive(operand); });
    for (Value result : op.getResults())
      mark(result, dependsOnActive);
  }
}

void Activity::visit(RepeatOp repeat) {
  for (const RepeatVariant &body : repeat.getVariants()) {
    for (auto [stack, slice, number] : body.getScannedInputs())
      mark(slice, isActive(stack));
    for (auto [init, arg] : llvm::zip_equal(repeat.getInits(), body.getIterArgs()))
      mark(arg, isActive(init));
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (const RepeatVariant &body : repeat.getVariants())
      visit(body.getBlock());
    for (const RepeatVariant &from : repeat.getVariants())
      for (const RepeatVariant &to : repeat.getVariants())
        for (auto [value, arg] : llvm::zip_equal(from.getYieldedIterArgs(), to.getIterArgs()))
          changed |= mark(arg, isActive(value));
  }
  for (OpResult result : repeat->getResults())
    mark(result, llvm::any_of(repeat.getYielded(result.getResultNumber()),
                              [&](Value value) { return isActive(value); }));
  // A repeat without iterations returns the initial value.
  for (auto [init, result] : llvm::zip_equal(repeat.getInits(), repeat.getIterResults()))
    mark(result, isActive(init));
}

/// Adds to `useful` the values that the operations of `block` need to compute the values in
/// `useful`.
static void collectUseful(Block &block, DenseSet<Value> &useful) {
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (llvm::none_of(op.getResults(), [&](Value result) { return useful.contains(result); }))
      continue;
    useful.insert(op.operand_begin(), op.operand_end());
    visitUsedValuesDefinedAbove(op.getRegions(),
                                [&](OpOperand *used) { useful.insert(used->get()); });
  }
}

SmallVector<bool> titan::ir::findReachingIterArgs(RepeatOp repeat, ArrayRef<Value> cotangents) {
  DenseSet<Value> useful;
  auto addYielded = [&](unsigned result) {
    for (Value value : repeat.getYielded(result))
      useful.insert(value);
  };
  SmallVector<bool> reaching(repeat.getNumIterArgs());
  for (auto [i, cotangent] : llvm::enumerate(cotangents)) {
    if (!cotangent)
      continue;
    addYielded(i);
    if (i < reaching.size())
      reaching[i] = true;
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (const RepeatVariant &body : repeat.getVariants()) {
      collectUseful(body.getBlock(), useful);
      for (unsigned i = 0; i < reaching.size(); ++i) {
        if (reaching[i] || !useful.contains(body.getIterArgs()[i]))
          continue;
        reaching[i] = changed = true;
        addYielded(i);
      }
    }
  }
  return reaching;
}
