// Removes iteration arguments without effect.

#include "dialects/titan/Transforms/Gradient/UnusedIterArgs.h"
#include "dialects/titan/Transforms/Gradient/ReverseSweep.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace titan::ir;

namespace {

/// The iteration arguments that a repeat needs.
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

/// Positions `from` on in a list of `size`, for the positions of `bits`.
llvm::BitVector shifted(const llvm::BitVector &bits, unsigned from, unsigned size) {
  llvm::BitVector all(size);
  for (unsigned i : bits.set_bits())
    all.set(from + i);
  return all;
}

void drop(RepeatOp repeat) {
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
  auto narrow = OpBuilder(repeat).create<RepeatOp>(
      repeat.getLoc(), ValueRange(used).getTypes(), repeat.getDim(), repeat.getReverse(),
      repeat.getIterations(), inits, repeat.getScannedInputs(), repeat.getAllScannedUsers(),
      repeat.getAllStackedUsers());
  narrow->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  for (auto [to, from] : llvm::zip_equal(narrow.getBodies(), repeat.getBodies()))
    to.takeBody(from);
  for (auto [old, result] : llvm::zip_equal(used, narrow.getResults()))
    old.replaceAllUsesWith(result);
  repeat.erase();
}

} // namespace

void titan::ir::dropUnusedIterArgs(Region &region) {
  eraseDeadOps(region);
  SmallVector<RepeatOp> repeats(region.getOps<RepeatOp>());
  for (RepeatOp repeat : llvm::reverse(repeats))
    drop(repeat);
  eraseDeadOps(region);
}
