//===- PutInto.cpp - The pass --titan-put-into ----------------------------===//

#include "dialects/titan/Transforms/Fusion/Fusion.h"
#include "dialects/titan/Transforms/Fusion/Groups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// The operand of a sum that puts updates into zeros, for the sum alone. One of a single update an
/// element is left to the fusion of elementwise operations.
PutOp findPut(AddOp add, unsigned operand) {
  auto put = add->getOperand(operand).getDefiningOp<PutOp>();
  bool isWanted = put && put->hasOneUse() && !put.getInto() && !put.isOneHot() &&
                  put->getBlock() == add->getBlock() &&
                  add->getOperand(1 - operand).getType() == add.getResult().getType() &&
                  put.getResult().getType() == add.getResult().getType();
  return isWanted ? put : PutOp();
}

void putInto(AddOp add) {
  for (unsigned operand : {1u, 0u})
    if (PutOp put = findPut(add, operand)) {
      OpBuilder builder(add);
      auto sum =
          builder.create<PutOp>(add.getLoc(), add.getResult().getType(), put.getUpdates(),
                                put.getIndices(), put.getAlongAttr(), add->getOperand(1 - operand));
      sum->setDiscardableAttrs(add->getDiscardableAttrDictionary());
      add.replaceAllUsesWith(sum.getResult());
      add.erase();
      put.erase();
      return;
    }
}

/// A table that is used in two ways, looked up and multiplied, has two gradients, of which one is
/// almost everywhere 0. This pass adds the updates to the other instead of making a table of them.
/// Input:
///   %a = titan.contract %x, %d : [vocab, embed]
///   %b = titan.put %u along "vocab" at %tokens : [vocab, embed]
///   %c = titan.add %a, %b
/// Output:
///   %a = titan.contract %x, %d : [vocab, embed]
///   %c = titan.put %u along "vocab" at %tokens into %a
/// Updates join the sum one after the other, not their sum: results may differ in the last digits.
struct PutIntoPass : PassWrapper<PutIntoPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PutIntoPass)

  StringRef getArgument() const final { return "titan-put-into"; }
  StringRef getDescription() const final { return "Put updates into the tensor that they join"; }

  void runOnOperation() final {
    for (Block *block : fusion::getBodies(getOperation()))
      for (AddOp add : llvm::make_early_inc_range(block->getOps<AddOp>()))
        putInto(add);
  }
};

} // namespace

std::unique_ptr<Pass> fusion::createPutIntoPass() {
  return std::make_unique<PutIntoPass>();
}
