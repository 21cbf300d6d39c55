//===- CollectiveMotion.cpp - Room for collectives to meet ----------------===//

#include "dialects/dist/Transforms/Shard/CollectiveMotion.h"

#include "dialects/dist/IR/DistOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;

namespace {

/// A cast that nothing but gathers reads.
bool isForGathers(Operation &op) {
  return isa<ir::CastOp>(op) && !op.use_empty() &&
         llvm::all_of(op.getUsers(), [](Operation *user) { return isa<AllGatherOp>(user); });
}

bool isReduction(Operation *op) {
  return op && isa<ReduceScatterOp, AllReduceOp>(op);
}

/// A cast or a reduction of what reductions in the same block give, or of such a cast.
bool followsReduction(Operation &op) {
  if (!isa<ir::CastOp>(op) && !isReduction(&op))
    return false;
  return llvm::any_of(op.getOperands(), [&](Value operand) {
    Operation *made = operand.getDefiningOp();
    return made && made->getBlock() == op.getBlock() &&
           (isReduction(made) || (isa<ir::CastOp>(made) && followsReduction(*made)));
  });
}

/// Moves operations, the first one first, up to what their operands are made by, or the last
/// repeat; those that meet there stay in order.
class Hoisting {
public:
  void hoist(Operation &op) {
    auto makes = [&](Operation *before) {
      return llvm::any_of(op.getOperands(),
                          [&](Value operand) { return operand.getDefiningOp() == before; });
    };
    Operation *before = op.getPrevNode();
    while (before && before->getNumRegions() == 0 && !makes(before) && !arrived.contains(before))
      before = before->getPrevNode();
    if (before)
      op.moveAfter(before);
    else
      op.moveBefore(&op.getBlock()->front());
    arrived.insert(&op);
  }

private:
  DenseSet<Operation *> arrived;
};

/// Moves operations, the last one first, down to their first use or the next repeat; those that
/// meet there stay in order, each with what has come to stand before it.
class Sinking {
public:
  void sink(Operation &op) {
    auto reads = [&](Operation *after) {
      return llvm::any_of(op.getUsers(), [&](Operation *user) { return user == after; });
    };
    Operation *after = op.getNextNode();
    while (!after->hasTrait<OpTrait::IsTerminator>() && after->getNumRegions() == 0 &&
           !reads(after))
      after = after->getNextNode();
    Operation *behind = arrived.try_emplace(after, after).first->second;
    op.moveBefore(behind);
    for (auto &[where, first] : arrived)
      if (first == behind)
        first = &op;
  }

private:
  DenseMap<Operation *, Operation *> arrived; ///< by where they go, the first one there
};

} // namespace

void dist::moveCastsFromCollectives(Block &block) {
  Hoisting casts;
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isForGathers(op))
      casts.hoist(op);
  Sinking followers;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (followsReduction(op))
      followers.sink(op);
}

void dist::moveCastsToCollectives(Block &block) {
  Sinking casts;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isForGathers(op))
      casts.sink(op);
  Hoisting followers;
  for (Operation &op : llvm::make_early_inc_range(block))
    if (followsReduction(op))
      followers.hoist(op);
}
