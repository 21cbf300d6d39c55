#include "dialects/titan/Transforms/Fusion/RecomputeChain.h"
#include "dialects/titan/IR/TensorType.h"

using namespace mlir;
using namespace titan;

fusion::RecomputeChain
fusion::findRecomputeChain(Operation *op, function_ref<bool(Operation *producer)> isRecomputed) {
  llvm::SetVector<Operation *> chain;
  RecomputeChain result;
  SmallVector<Operation *> pending{op};
  const auto dims = ir::getTensorType(op->getResult(0)).getDims();
  while (!pending.empty()) {
    Operation *next = pending.pop_back_val();
    if (!chain.insert(next))
      continue;
    for (Value operand : next->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && ir::getTensorType(operand).getDims() == dims && isRecomputed(producer))
        pending.push_back(producer);
      else
        result.leaves.insert(operand);
    }
  }
  result.ops.assign(chain.begin(), chain.end());
  llvm::sort(result.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return result;
}
