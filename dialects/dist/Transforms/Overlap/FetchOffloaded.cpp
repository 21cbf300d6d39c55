// The pass --dist-fetch-offloaded.

#include "dialects/dist/Transforms/Overlap/Passes.h"
#include "dialects/titan/IR/OpTraits.h"
#include "dialects/titan/Support/PassReport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTFETCHOFFLOADED
#include "dialects/dist/Transforms/Overlap/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;

namespace {

/// Whether the user needs no copy: it reads each element once, or not at all.
bool readsOnHost(Operation *user) {
  return user->hasTrait<ir::Elementwise>() || user->getParentOfType<ir::FusedOp>() ||
         isa<func::ReturnOp, LayerOp>(user);
}

struct FetchOffloaded : titan::dist::impl::DistFetchOffloadedBase<FetchOffloaded> {
  using DistFetchOffloadedBase::DistFetchOffloadedBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!llvm::is_contained(offload, "params") || !function->hasAttr(ir::attr::kProgram) ||
        function.isExternal())
      return;
    for (BlockArgument argument : function.getArguments())
      if (function.getArgAttr(argument.getArgNumber(), ir::attr::kParam))
        fetch(argument);
  }

  /// Replaces uses of `stored`, a parameter or a slot of one, by a copy in the block of the use.
  void fetch(Value stored) {
    DenseMap<Block *, ir::CopyOp> copies;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : stored.getUses())
      uses.push_back(&use);
    for (OpOperand *use : uses) {
      if (auto repeat = dyn_cast<ir::RepeatOp>(use->getOwner());
          repeat && use->getOperandNumber() >= repeat.getNumIterArgs()) {
        for (const ir::RepeatVariant &body : repeat.getVariants())
          for (const auto &scanned : body.getScannedInputs())
            if (scanned.number == use->getOperandNumber() - repeat.getNumIterArgs())
              fetch(scanned.slot);
        continue;
      }
      if (readsOnHost(use->getOwner()))
        continue;
      Block *block = use->getOwner()->getBlock();
      ir::CopyOp &copy = copies[block];
      if (!copy) {
        copy = OpBuilder(use->getOwner()).create<ir::CopyOp>(stored.getLoc(), stored);
        TITAN_COUNT(fetched, 1);
      } else if (use->getOwner()->isBeforeInBlock(copy)) {
        copy->moveBefore(use->getOwner());
      }
      use->set(copy);
    }
  }
};

} // namespace
