// The pass --titan-recompute-values: recomputes values in later loops, so that they need no memory.

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Transforms/Fusion/Groups.h"
#include "dialects/titan/Transforms/Fusion/Passes.h"
#include "dialects/titan/Transforms/Fusion/RecomputeChain.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::fusion {
#define GEN_PASS_DEF_TITANRECOMPUTEVALUES
#include "dialects/titan/Transforms/Fusion/Passes.h.inc"
} // namespace titan::fusion

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Recomputes values of one block.
class BlockRecompute {
public:
  explicit BlockRecompute(Block &block)
      : block(block),
        degrees(dist::getDegrees(dist::MeshOp::lookup(block.getParentOp()), /*autoDegree=*/1)) {}

  void run() {
    findLoops();
    for (Operation *op : candidates)
      recompute(op);
  }

  unsigned numRecomputed = 0;

private:
  /// Numbers the loops that fusion will form, and the operations between which no loop extends.
  void findLoops() {
    SmallVector<Operation *> order;
    unsigned numLoops = 0;
    for (const fusion::Group &group : fusion::Grouping(block).run(order)) {
      for (Operation *op : group.ops)
        loopOf[op] = numLoops;
      ++numLoops;
    }
    unsigned stretch = 0;
    for (Operation &op : block) {
      stretchOf[&op] = stretch += fusion::isBarrier(&op);
      if (isRowFusable(&op))
        loopOf.try_emplace(&op, numLoops++);
      if (isCheap(&op) && op.getNumResults() == 1)
        candidates.push_back(&op);
    }
  }

  int64_t getBytes(Value value) const {
    NamedTensorType type = getTensorType(value);
    return dist::getLocalNumElements(type, degrees) *
           llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  }

  bool isLoop(Operation *op) const { return op->getBlock() == &block && loopOf.contains(op); }

  /// Whether an operation in another loop, or outside of loops, reads the result of `op`.
  bool isInMemory(Operation *op) const {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !isLoop(user) || loopOf.lookup(user) != loopOf.lookup(op);
    });
  }

  /// Whether `value` exists at `user` without this pass.
  bool isAlive(Value value, Operation *user) const {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto repeat = dyn_cast<RepeatOp>(argument.getOwner()->getParentOp());
      // Slots of stacks, parameters and inputs stay where they are.
      if (!repeat || argument.getArgNumber() == 0 ||
          argument.getArgNumber() > repeat.getNumIterArgs())
        return true;
    }
    if (value.getParentBlock() != &block)
      return true;
    return llvm::any_of(value.getUsers(), [&](Operation *other) {
      Operation *there = block.findAncestorOpInBlock(*other);
      return there == user || user->isBeforeInBlock(there);
    });
  }

  /// The operations that compute `op` from values in memory, operands first. Fails if these values
  /// do not need less memory up to `user` than the result of `op`.
  FailureOr<SmallVector<Operation *>> findChain(Operation *op, Operation *user) const {
    fusion::RecomputeChain chain = fusion::findRecomputeChain(op, [&](Operation *producer) {
      return producer->getBlock() == &block && isCheap(producer) && !isNullary(producer) &&
             !isInMemory(producer);
    });
    int64_t bytes = 0;
    for (Value leaf : chain.leaves)
      if (Operation *producer = leaf.getDefiningOp(); !producer || !isNullary(producer))
        bytes += isAlive(leaf, user) ? 0 : getBytes(leaf);
    if (bytes >= getBytes(op->getResult(0)) || chain.ops.size() > kMaxRecomputedOps)
      return failure();
    return chain.ops;
  }

  /// The first of `users` in each loop, in program order.
  SmallVector<Operation *> findFirstOfLoops(ArrayRef<Operation *> users) const {
    SmallVector<Operation *> first;
    for (Operation *user : users)
      if (llvm::none_of(
              first, [&](Operation *other) { return loopOf.lookup(other) == loopOf.lookup(user); }))
        first.push_back(user);
    return first;
  }

  /// Moves a copy before `user`, after the copies that it reads. All else that it reads precedes.
  void moveBefore(Operation *copied, Operation *user) {
    if (copied->isBeforeInBlock(user))
      return;
    for (Value operand : copied->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && producer->getBlock() == &block)
        moveBefore(producer, user);
    copied->moveBefore(user);
  }

  /// Copies `chain` into the loop of `user`, before it. All that the loop reads shares the copies.
  void copy(ArrayRef<Operation *> chain, Operation *user) {
    unsigned loop = loopOf.lookup(user);
    OpBuilder builder(user);
    for (Operation *link : chain) {
      Operation *&known = copies[{link, loop}];
      if (!known) {
        known = builder.clone(*link);
        loopOf[known] = loop;
        stretchOf[known] = stretchOf.lookup(user);
        ++numRecomputed;
        for (OpOperand &operand : known->getOpOperands())
          if (Operation *copied = copies.lookup({operand.get().getDefiningOp(), loop})) {
            moveBefore(copied, known); // perhaps a copy for a later user
            operand.set(copied->getResult(0));
          }
      }
      moveBefore(known, user);
    }
  }

  /// Recomputes `op` in all other loops that read it, if it need not be in memory then.
  void recompute(Operation *op) {
    unsigned own = loopOf.lookup(op);
    SmallVector<Operation *> later;
    for (Operation *user : op->getUsers()) {
      if (!isLoop(user))
        return;
      if (loopOf.lookup(user) == own)
        continue;
      if (stretchOf.lookup(user) == stretchOf.lookup(op))
        return;
      if (!llvm::is_contained(later, user))
        later.push_back(user);
    }
    llvm::sort(later, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    SmallVector<Operation *> first = findFirstOfLoops(later);
    SmallVector<SmallVector<Operation *>> chains;
    for (Operation *user : first) {
      FailureOr<SmallVector<Operation *>> chain = findChain(op, user);
      if (failed(chain))
        return;
      chains.push_back(*chain);
    }
    for (auto [chain, user] : llvm::zip_equal(chains, first))
      copy(chain, user);
    for (Operation *user : later) {
      Operation *copied = copies.lookup({op, loopOf.lookup(user)});
      TITAN_DEBUG("titan-recompute-values", llvm::errs() << op->getName() << " " << op->getLoc()
                                                         << " for " << user->getName() << '\n');
      user->replaceUsesOfWith(op->getResult(0), copied->getResult(0));
    }
  }

  /// More operations would make the loop compute-bound.
  static constexpr size_t kMaxRecomputedOps = 16;

  Block &block;
  dist::Degrees degrees;
  SmallVector<Operation *> candidates;
  DenseMap<Operation *, unsigned> loopOf;    ///< of operations that loops evaluate
  DenseMap<Operation *, unsigned> stretchOf; ///< products and messages that precede an operation
  DenseMap<std::pair<Operation *, unsigned>, Operation *> copies; ///< by loop
};

struct RecomputeValues : titan::fusion::impl::TitanRecomputeValuesBase<RecomputeValues> {
  void runOnOperation() override {
    for (Block *block : fusion::getBodies(getOperation())) {
      BlockRecompute recompute(*block);
      recompute.run();
      TITAN_COUNT(recomputedOps, recompute.numRecomputed);
    }
  }
};

} // namespace
