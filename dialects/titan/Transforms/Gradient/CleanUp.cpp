//===- CleanUp.cpp - Tidies a differentiated function ---------------------===//

#include "dialects/titan/Transforms/Gradient/CleanUp.h"
#include "dialects/titan/Transforms/Gradient/ReverseSweep.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace titan::ir;

/// Clones the constants that the operations of `block` use from outside into `block`.
static void localizeConstants(Block &block) {
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  DenseMap<Operation *, Operation *> copies;
  for (Operation &op : block)
    for (OpOperand &operand : op.getOpOperands()) {
      Operation *constant = operand.get().getDefiningOp();
      if (!isa_and_nonnull<ConstantOp, IotaOp>(constant) || constant->getBlock() == &block)
        continue;
      Operation *&copy = copies[constant];
      if (!copy)
        copy = builder.clone(*constant);
      operand.set(copy->getResult(0));
    }
}

void titan::ir::cleanUp(func::FuncOp function) {
  eraseDeadOps(function.getBody());
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
  function.walk([](RepeatOp repeat) { localizeConstants(repeat.getBody().front()); });
  eraseDeadOps(function.getBody());
}
