// Recognises the loop over the microbatches of a step.

#include "dialects/dist/Transforms/Shard/MicrobatchLoop.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace titan;

bool dist::isMicrobatchLoop(ir::RepeatOp repeat) {
  auto function = dyn_cast<func::FuncOp>(repeat->getParentOp());
  return function && llvm::any_of(repeat.getScannedInputs(), [&](Value scanned) {
           auto argument = dyn_cast<BlockArgument>(scanned);
           return argument && function.getArgAttr(argument.getArgNumber(), ir::attr::kInput);
         });
}
