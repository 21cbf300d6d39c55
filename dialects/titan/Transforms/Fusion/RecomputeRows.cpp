//===- RecomputeRows.cpp - The pass --titan-recompute-rows ----------------===//

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/TypeOf.h"
#include "dialects/titan/Transforms/Fusion/Fusion.h"
#include "dialects/titan/Transforms/Fusion/Groups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// What a loop over the elements may compute again: it is made of its operands' elements alone.
bool isCheap(Operation *op) {
  return op && op->hasTrait<Elementwise>() && op->getNumResults() == 1 &&
         !isa<ConstantOp, IotaOp, RandomOp, ApplyOp>(op);
}

class Recompute {
public:
  explicit Recompute(Block &block)
      : block(block),
        degrees(dist::getDegrees(dist::MeshOp::lookup(block.getParentOp()), /*autoDegree=*/1)) {}

  void run() {
    for (GatherOp gather : llvm::make_early_inc_range(block.getOps<GatherOp>()))
      if (mayScan(gather))
        scan(gather);
    SmallVector<Operation *> pending;
    for (Operation &op : block)
      if (isCheap(&op))
        pending.push_back(&op);
    // Clones are looked at again: there may be a loop behind the loop behind.
    for (size_t i = 0; i < pending.size(); ++i)
      recompute(pending[i], pending);
  }

private:
  int64_t getBytes(NamedTensorType type) const {
    return dist::getLocalNumElements(type, degrees) *
           llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  }

  /// `row` has elements that `rest` lacks, and too many of them to be kept between two loops.
  bool isLong(NamedTensorType row, NamedTensorType rest) const {
    return rest.getRank() > 0 && rest.getRank() < row.getRank() &&
           row.getDims().take_front(rest.getRank()) == rest.getDims() &&
           dist::getLocalNumElements(row, degrees) *
                   fusion::getRowBufferBytes(row.getElementType()) >
               fusion::kMaxRowBufferBytes * dist::getLocalNumElements(rest, degrees);
  }

  /// Reading one element of a row needs all of it, unless a loop looks for it on its way.
  bool mayScan(GatherOp gather) {
    NamedTensorType row = typeOf(gather.getInput()), rest = typeOf(gather.getResult());
    Operation *producer = gather.getInput().getDefiningOp();
    return isCheap(producer) && producer->getBlock() == &block && isLong(row, rest) &&
           row.getDims().back().getName() == gather.getAlongAttr() &&
           row.getShardingOrReplicated().getDimAxes().back().empty() &&
           llvm::all_of(typeOf(gather.getIndices()).getDims(),
                        [&](DimAttr dim) { return rest.hasDim(dim.getName()); });
  }

  /// The one element whose index is the one, and zeros: their sum is exact.
  void scan(GatherOp gather) {
    OpBuilder builder(gather);
    NamedTensorType row = typeOf(gather.getInput());
    auto make = [&](Type element, ArrayRef<DimAttr> dims) {
      NamedTensorType type = NamedTensorType::get(element, dims);
      return row.getSharding() ? type.withSharding(type.getShardingOrReplicated()) : type;
    };
    Location at = gather.getLoc();
    Value indices =
        builder.create<IotaOp>(at, make(builder.getI64Type(), row.getDims().take_back()));
    Value isHere = builder.create<CompareOp>(at, row.withElementType(builder.getI1Type()),
                                             ComparePredicate::EQ, indices, gather.getIndices());
    Value zero = builder.create<ConstantOp>(at, make(row.getElementType(), {}),
                                            builder.getF64FloatAttr(0.0));
    Value only = builder.create<SelectOp>(at, row, isHere, gather.getInput(), zero);
    Value sum =
        builder.create<ReduceOp>(at, typeOf(gather.getResult()), dist::ReductionKind::Sum, only);
    gather.getResult().replaceAllUsesWith(sum);
    gather.erase();
  }

  /// Users of `op` in this block that also need, of elementwise operations and reductions, one over
  /// a long row of it: their loop comes after that one's.
  SmallVector<Operation *> findLater(Operation *op) {
    NamedTensorType type = typeOf(op->getResult(0));
    llvm::DenseMap<Operation *, bool> followsReduction{{op, false}}; // of all that need it
    SmallVector<Operation *> later;
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
      if (!isa<ReduceOp>(next) && !isCheap(next))
        continue;
      bool needs = false, follows = false;
      for (Value operand : next->getOperands())
        if (auto it = followsReduction.find(operand.getDefiningOp());
            it != followsReduction.end()) {
          needs = true;
          follows |= it->second;
        }
      if (!needs)
        continue;
      if (follows && llvm::is_contained(op->getUsers(), next))
        later.push_back(next);
      auto reduce = dyn_cast<ReduceOp>(next);
      followsReduction[next] =
          follows || (reduce && typeOf(reduce.getInput()).getDims() == type.getDims() &&
                      isLong(type, typeOf(reduce.getResult())));
    }
    return later;
  }

  /// What has to be computed for `op`, operands first, down to what no loop over elements makes.
  /// Fails where that would keep more in memory than `op`'s result is.
  FailureOr<SmallVector<Operation *>> findChain(Operation *op) {
    llvm::SetVector<Operation *> chain;
    llvm::SetVector<Value> leaves;
    SmallVector<Operation *> pending{op};
    NamedTensorType type = typeOf(op->getResult(0));
    while (!pending.empty()) {
      Operation *next = pending.pop_back_val();
      if (!chain.insert(next))
        continue;
      for (Value operand : next->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        bool isRow = typeOf(operand).getDims() == type.getDims();
        if (isRow && isCheap(producer) && producer->getBlock() == &block)
          pending.push_back(producer);
        else if (isRow)
          leaves.insert(operand);
      }
    }
    int64_t leafBytes = 0;
    for (Value leaf : leaves)
      leafBytes += getBytes(typeOf(leaf));
    if (leafBytes > getBytes(type) || chain.size() > kMaxRecomputedOps)
      return failure();
    SmallVector<Operation *> ordered(chain.begin(), chain.end());
    llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return ordered;
  }

  void recompute(Operation *op, SmallVectorImpl<Operation *> &pending) {
    // What others read is whole in memory anyway.
    auto isLoop = [&](Operation *user) {
      return user->getBlock() == &block && (isCheap(user) || isa<ReduceOp, ScatterOp>(user));
    };
    SmallVector<Operation *> later = findLater(op);
    if (later.empty() || !llvm::all_of(op->getUsers(), isLoop))
      return;
    FailureOr<SmallVector<Operation *>> chain = findChain(op);
    if (failed(chain))
      return;
    OpBuilder builder(later.front());
    IRMapping mapping;
    for (Operation *link : *chain)
      pending.push_back(builder.clone(*link, mapping));
    op->getResult(0).replaceUsesWithIf(mapping.lookup(op->getResult(0)), [&](OpOperand &use) {
      return llvm::is_contained(later, use.getOwner());
    });
  }

  /// Operations; a loop should stay one that waits for memory.
  static constexpr size_t kMaxRecomputedOps = 6;

  Block &block;
  dist::Degrees degrees;
};

/// Rows that are too long to be kept between the loops over them are whole tensors in memory. This
/// pass gives each loop what it needs, computed anew from what is in memory anyway. Input:
///   %s = titan.sub %logits, %top : [tokens, vocab]
///   %e = titan.exp %s
///   %n = titan.reduce sum %e : [tokens, vocab] -> [tokens]
///   %p = titan.div %e, %n : [tokens, vocab]
/// Output: `%p` reads a copy of `%e`, made of a copy of `%s`, so that neither is ever whole:
///   %s = ...  %e = ...  %n = ...
///   %s2 = titan.sub %logits, %top  %e2 = titan.exp %s2  %p = titan.div %e2, %n
/// One element of such a row is not taken from it but looked for in a loop.
struct RecomputeRowsPass : PassWrapper<RecomputeRowsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RecomputeRowsPass)

  StringRef getArgument() const final { return "titan-recompute-rows"; }
  StringRef getDescription() const final { return "Compute long rows anew in each loop over them"; }

  void runOnOperation() final {
    for (Block *block : fusion::getBodies(getOperation()))
      Recompute(*block).run();
  }
};

} // namespace

std::unique_ptr<Pass> fusion::createRecomputeRowsPass() {
  return std::make_unique<RecomputeRowsPass>();
}
