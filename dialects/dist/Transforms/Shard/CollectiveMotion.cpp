// Moves casts away from collectives.

#include "dialects/dist/Transforms/Shard/CollectiveMotion.h"

#include "dialects/dist/IR/DistOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;

namespace {

/// A cast that only gathers use.
bool isForGathers(Operation &op) {
  return isa<ir::CastOp>(op) && !op.use_empty() &&
         llvm::all_of(op.getUsers(), [](Operation *user) { return isa<AllGatherOp>(user); });
}

/// A cast or reduction of a reduction's result in the same block, possibly through casts.
bool followsReduction(Operation &op) {
  if (!isa<ir::CastOp>(op) && !reduces(&op))
    return false;
  return llvm::any_of(op.getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && producer->getBlock() == op.getBlock() &&
           (reduces(producer) || (isa<ir::CastOp>(producer) && followsReduction(*producer)));
  });
}

/// Hoists operations, in program order, to the definitions of their operands or to the last repeat.
/// Operations with one destination keep their order.
class Hoisting {
public:
  void hoist(Operation &op) {
    auto defines = [&](Operation *before) {
      return llvm::any_of(op.getOperands(),
                          [&](Value operand) { return operand.getDefiningOp() == before; });
    };
    Operation *before = op.getPrevNode();
    while (before && before->getNumRegions() == 0 && !defines(before) && !arrived.contains(before))
      before = before->getPrevNode();
    if (before)
      op.moveAfter(before);
    else
      op.moveBefore(&op.getBlock()->front());
    arrived.insert(&op);
  }

private:
  DenseSet<Operation *> arrived; ///< operations that were hoisted already
};

/// Sinks operations, in reverse program order, to their first use or to the next repeat. Operations
/// with one destination keep their order.
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
  DenseMap<Operation *, Operation *> arrived; ///< destination to the first operation sunk there
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
