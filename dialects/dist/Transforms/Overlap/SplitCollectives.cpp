// The pass --dist-split-collectives.

#include "dialects/dist/Transforms/Overlap/Passes.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTSPLITCOLLECTIVES
#include "dialects/dist/Transforms/Overlap/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;

/// Stacks of flat storage communicate slot by slot and stay synchronous.
static bool canSplit(Operation *op) {
  if ((!isCollective(op) && !isMessage(op)) || getStartChannel(op))
    return false;
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return llvm::all_of(types, [](Type type) {
    return cast<ir::NamedTensorType>(type).getShardingOrReplicated().getFlatFrom() == 0;
  });
}

/// Whether `op` takes time that can hide communication.
static bool computes(Operation *op) {
  return !isa<DistDialect>(op->getDialect()) && !ir::isView(op) &&
         !op->hasTrait<OpTrait::ConstantLike>() && op->getNumOperands() + op->getNumRegions() > 0;
}

/// The operation before which to wait; null if there is no computation to overlap.
static Operation *findWait(Operation *op) {
  bool hasComputation = false;
  for (Operation *at = op->getNextNode(); at; at = at->getNextNode()) {
    bool isUse =
        llvm::any_of(op->getUsers(), [&](Operation *user) { return at->isAncestor(user); });
    if (isUse || isa<ir::RepeatOp>(at) || at->hasTrait<OpTrait::IsTerminator>())
      return hasComputation ? at : nullptr;
    hasComputation |= computes(at);
  }
  return nullptr;
}

static void split(Operation *op, Operation *before, int64_t channel) {
  OpBuilder builder(before);
  // All-reduce and receive are in place: their results are their operands.
  ValueRange sources =
      isa<AllReduceOp, ReceiveOp>(op) ? ValueRange() : ValueRange(op->getOperands());
  auto wait = builder.create<WaitOp>(op->getLoc(), op->getResultTypes(), channel, op->getResults(),
                                     sources);
  for (auto [flight, value] : llvm::zip_equal(op->getResults(), wait.getResults()))
    flight.replaceAllUsesExcept(value, wait);
  op->setAttr("channel", builder.getI64IntegerAttr(channel));
}

namespace {
struct SplitCollectives : titan::dist::impl::DistSplitCollectivesBase<SplitCollectives> {
  using DistSplitCollectivesBase::DistSplitCollectivesBase;

  void runOnOperation() override {
    if (overlap == Overlap::Never)
      return;
    int64_t channel = getFreeChannel(getOperation());
    SmallVector<Operation *> collectives;
    getOperation().walk([&](Operation *op) {
      if (canSplit(op))
        collectives.push_back(op);
    });
    for (Operation *op : collectives)
      if (Operation *before = findWait(op)) {
        TITAN_COUNT(startedCollectives, 1);
        TITAN_DEBUG("dist-split-collectives",
                    llvm::errs() << op->getName() << " waits before " << before->getName() << '\n');
        split(op, before, channel++);
      }
  }
};
} // namespace
