// Simplifies a differentiated function.

#include "dialects/titan/Transforms/Gradient/CleanUp.h"
#include "dialects/titan/Support/Canonicalize.h"
#include "dialects/titan/Transforms/Gradient/ReverseSweep.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace titan::ir;

/// Clones constants from outside into `block`.
static void localizeConstants(Block &block) {
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  DenseMap<Operation *, Operation *> copies;
  for (Operation &op : block)
    for (OpOperand &operand : op.getOpOperands()) {
      Operation *constant = operand.get().getDefiningOp();
      if (!constant || !isNullary(constant) || constant->getBlock() == &block)
        continue;
      Operation *&copy = copies[constant];
      if (!copy)
        copy = builder.clone(*constant);
      operand.set(copy->getResult(0));
    }
}

/// Removes stacked outputs without users. They occur in nested repeats: the backward of the outer
/// repeat recomputes the inner one.
static void dropUnusedStackedOutputs(RepeatOp repeat) {
  SmallVector<Type> types(repeat.getIterResults().getTypes());
  VariantLists users;
  SmallVector<Value> used(repeat.getIterResults());
  for (auto [i, stack] : llvm::enumerate(repeat.getStackedOutputs()))
    if (!stack.use_empty()) {
      types.push_back(stack.getType());
      users.push_back(repeat.getStackedUsers(i));
      used.push_back(stack);
    }
  if (used.size() == repeat.getNumResults())
    return;
  for (const RepeatVariant &body : repeat.getVariants()) {
    SmallVector<RepeatVariant::StackedOutput> stacks = body.getStackedOutputs();
    for (const RepeatVariant::StackedOutput &stack : llvm::reverse(stacks))
      if (stack.output.use_empty())
        body.getYield()->eraseOperand(stack.operand);
  }
  OpBuilder builder(repeat);
  auto pruned = builder.create<RepeatOp>(
      repeat.getLoc(), types, repeat.getDim(), repeat.getReverse(), repeat.getIterations(),
      repeat.getInits(), repeat.getScannedInputs(), repeat.getAllScannedUsers(), users);
  pruned->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  for (auto [to, from] : llvm::zip_equal(pruned.getBodies(), repeat.getBodies()))
    to.takeBody(from);
  for (auto [old, result] : llvm::zip_equal(used, pruned.getResults()))
    old.replaceAllUsesWith(result);
  repeat.erase();
}

void titan::ir::cleanUp(func::FuncOp function) {
  canonicalize(function);
  SmallVector<RepeatOp> repeats;
  function.walk<WalkOrder::PreOrder>([&](RepeatOp repeat) { repeats.push_back(repeat); });
  for (RepeatOp repeat : llvm::reverse(repeats))
    dropUnusedStackedOutputs(repeat);
  eraseDeadOps(function.getBody());
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
  function.walk([](RepeatOp repeat) {
    for (Region &body : repeat.getBodies())
      localizeConstants(body.front());
  });
  eraseDeadOps(function.getBody());
}
