// Removes iteration arguments without effect.

#include "dialects/titan/Transforms/Gradient/UnusedIterArgs.h"
#include "dialects/titan/Transforms/Gradient/ReverseSweep.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace titan::ir;

namespace {

/// Finds the iteration arguments on which a used result or a stacked output of a repeat depends.
class NeededIterArgs {
public:
  explicit NeededIterArgs(RepeatOp repeat) : needed(repeat.getNumIterArgs()) {
    for (auto [i, result] : llvm::enumerate(repeat.getIterResults()))
      needed[i] = !result.use_empty();
    for (llvm::BitVector before; before != needed;) {
      before = needed;
      for (const RepeatVariant &body : repeat.getVariants())
        visit(body);
    }
  }
  const llvm::BitVector &get() const { return needed; }

private:
  void visit(const RepeatVariant &body) {
    visited.clear();
    for (auto [i, value] : llvm::enumerate(body.getYield().getValues()))
      if (i >= needed.size() || needed[i])
        visit(value, body);
  }

  void visit(Value value, const RepeatVariant &body) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      const unsigned number = argument.getArgNumber();
      if (argument.getOwner() == &body.getBlock() && number > 0 && number <= needed.size())
        needed.set(number - 1);
      return;
    }
    Operation *op = body.getBlock().findAncestorOpInBlock(*value.getDefiningOp());
    if (!op || !visited.insert(op).second)
      return;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        visit(operand, body);
    });
  }

  llvm::BitVector needed;
  llvm::DenseSet<Operation *> visited;
};

/// `bits` moved up by `from` positions, in a list of `size` positions.
llvm::BitVector shifted(const llvm::BitVector &bits, unsigned from, unsigned size) {
  llvm::BitVector all(size);
  for (unsigned i : bits.set_bits())
    all.set(from + i);
  return all;
}

/// Removes the unused iteration arguments of `repeat` and of the repeats in its bodies.
void dropUnused(RepeatOp repeat) {
  llvm::BitVector unused = NeededIterArgs(repeat).get();
  unused.flip();
  if (unused.none()) {
    for (Region &body : repeat.getBodies())
      dropUnusedIterArgs(body);
    return;
  }
  SmallVector<Value> inits, used;
  for (auto [i, init] : llvm::enumerate(repeat.getInits()))
    if (!unused[i])
      inits.push_back(init);
  for (auto [i, result] : llvm::enumerate(repeat.getResults()))
    if (i >= unused.size() || !unused[i])
      used.push_back(result);
  for (const RepeatVariant &body : repeat.getVariants()) {
    Block &block = body.getBlock();
    body.getYield()->eraseOperands(shifted(unused, 0, body.getYield()->getNumOperands()));
    dropUnusedIterArgs(body.getRegion());
    block.eraseArguments(shifted(unused, 1, block.getNumArguments()));
  }
  auto pruned = OpBuilder(repeat).create<RepeatOp>(
      repeat.getLoc(), ValueRange(used).getTypes(), repeat.getDim(), repeat.getReverse(),
      repeat.getIterations(), inits, repeat.getScannedInputs(), repeat.getAllScannedUsers(),
      repeat.getAllStackedUsers());
  pruned->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  for (auto [to, from] : llvm::zip_equal(pruned.getBodies(), repeat.getBodies()))
    to.takeBody(from);
  for (auto [old, result] : llvm::zip_equal(used, pruned.getResults()))
    old.replaceAllUsesWith(result);
  repeat.erase();
}

} // namespace

void titan::ir::dropUnusedIterArgs(Region &region) {
  eraseDeadOps(region);
  SmallVector<RepeatOp> repeats(region.getOps<RepeatOp>());
  for (RepeatOp repeat : llvm::reverse(repeats))
    dropUnused(repeat);
  eraseDeadOps(region);
}
