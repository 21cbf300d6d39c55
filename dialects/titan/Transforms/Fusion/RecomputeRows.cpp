// The pass --titan-recompute-rows: recomputes long rows in each loop that reads them.

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Transforms/Fusion/Groups.h"
#include "dialects/titan/Transforms/Fusion/Passes.h"
#include "dialects/titan/Transforms/Fusion/RecomputeChain.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace titan::fusion {
#define GEN_PASS_DEF_TITANRECOMPUTEROWS
#include "dialects/titan/Transforms/Fusion/Passes.h.inc"
} // namespace titan::fusion

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Recomputes the long rows of one block.
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
    // Clones are visited again: a loop may follow a loop that follows a reduction.
    for (size_t i = 0; i < pending.size(); ++i)
      recompute(pending[i], pending);
  }

  unsigned numScanned = 0, numRecomputed = 0;

private:
  int64_t getBytes(NamedTensorType type) const {
    return dist::getLocalNumElements(type, degrees) *
           llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  }

  /// True if `rest` has only the leading dimensions of `row`, and a row of the other dimensions
  /// exceeds the row buffers.
  bool isLong(NamedTensorType row, NamedTensorType rest) const {
    return rest.getRank() > 0 && rest.getRank() < row.getRank() &&
           row.getDims().take_front(rest.getRank()) == rest.getDims() &&
           dist::getLocalNumElements(row, degrees) *
                   fusion::getRowBufferBytes(row.getElementType()) >
               fusion::kMaxRowBufferBytes * dist::getLocalNumElements(rest, degrees);
  }

  /// True if a loop over the long row can replace the gather of one element from it.
  bool mayScan(GatherOp gather) {
    NamedTensorType row = getTensorType(gather.getInput()),
                    rest = getTensorType(gather.getResult());
    Operation *producer = gather.getInput().getDefiningOp();
    return producer && isCheap(producer) && producer->getBlock() == &block && isLong(row, rest) &&
           row.getDims().back().getName() == gather.getAlongAttr() &&
           row.getShardingOrReplicated().getDimAxes().back().empty() &&
           llvm::all_of(getTensorType(gather.getIndices()).getDims(),
                        [&](DimAttr dim) { return rest.hasDim(dim.getName()); });
  }

  /// Replaces a gather by the sum over a row of the selected element and zeros, which is exact.
  void scan(GatherOp gather) {
    OpBuilder builder(gather);
    NamedTensorType row = getTensorType(gather.getInput());
    auto make = [&](Type element, ArrayRef<DimAttr> dims) {
      NamedTensorType type = NamedTensorType::get(element, dims);
      return row.getSharding() ? type.withSharding(type.getShardingOrReplicated()) : type;
    };
    Location loc = gather.getLoc();
    Value indices =
        builder.create<IotaOp>(loc, make(builder.getI64Type(), row.getDims().take_back()));
    Value isHere = builder.create<CompareOp>(loc, row.withElementType(builder.getI1Type()),
                                             ComparePredicate::EQ, indices, gather.getIndices());
    Value zero = builder.create<ConstantOp>(loc, make(row.getElementType(), {}), 0.0);
    Value only = builder.create<SelectOp>(loc, row, isHere, gather.getInput(), zero);
    Value sum = builder.create<ReduceOp>(loc, getTensorType(gather.getResult()),
                                         dist::ReductionKind::Sum, only);
    TITAN_DEBUG("titan-recompute-rows", llvm::errs() << "scan " << gather.getLoc() << '\n');
    ++numScanned;
    gather.getResult().replaceAllUsesWith(sum);
    gather.erase();
  }

  /// The operations that depend on `op` row by row, in program order; each maps to whether it
  /// depends on a reduction over a long row of `op`, and so needs a later loop.
  llvm::MapVector<Operation *, bool> findDependent(Operation *op) {
    NamedTensorType type = getTensorType(op->getResult(0));
    llvm::MapVector<Operation *, bool> dependent;
    dependent[op] = false;
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
      if (!isa<ReduceOp>(next) && !isCheap(next))
        continue;
      bool needs = false, follows = false;
      for (Value operand : next->getOperands())
        if (auto it = dependent.find(operand.getDefiningOp()); it != dependent.end()) {
          needs = true;
          follows |= it->second;
        }
      if (!needs)
        continue;
      auto reduce = dyn_cast<ReduceOp>(next);
      dependent[next] =
          follows || (reduce && getTensorType(reduce.getInput()).getDims() == type.getDims() &&
                      isLong(type, getTensorType(reduce.getResult())));
    }
    return dependent;
  }

  /// The users of `op` in a later loop than a reduction over a long row of `op`: those that depend
  /// on it, and those whose results only such operations read.
  SmallVector<Operation *> findLaterUsers(Operation *op) {
    llvm::MapVector<Operation *, bool> dependent = findDependent(op);
    auto reads = [&](Operation *reader) {
      // The reduction itself is in the earlier loop.
      return isCheap(reader) && dependent.lookup(reader);
    };
    for (auto &[next, isLater] : llvm::reverse(dependent))
      if (next != op && isCheap(next) && !next->use_empty())
        isLater |= llvm::all_of(next->getUsers(), reads);
    SmallVector<Operation *> later;
    for (auto [next, isLater] : dependent)
      if (next != op && reads(next) && llvm::is_contained(op->getUsers(), next))
        later.push_back(next);
    return later;
  }

  /// The elementwise operations that recompute `op` from values in memory, operands first. Fails if
  /// these values need more memory than the result of `op`.
  FailureOr<SmallVector<Operation *>> findChain(Operation *op) {
    NamedTensorType type = getTensorType(op->getResult(0));
    fusion::RecomputeChain chain = fusion::findRecomputeChain(op, [&](Operation *producer) {
      return isCheap(producer) && producer->getBlock() == &block;
    });
    int64_t leafBytes = 0;
    for (Value leaf : chain.leaves)
      if (getTensorType(leaf).getDims() == type.getDims())
        leafBytes += getBytes(getTensorType(leaf));
    if (leafBytes > getBytes(type) || chain.ops.size() > kMaxRecomputedOps)
      return failure();
    return chain.ops;
  }

  /// Recomputes `op` for its users that need a later loop. Appends the clones to `pending`.
  void recompute(Operation *op, SmallVectorImpl<Operation *> &pending) {
    // If other operations read the value, it is in memory anyway.
    auto isLoop = [&](Operation *user) {
      return user->getBlock() == &block && (isCheap(user) || isa<ReduceOp, ScatterOp>(user));
    };
    SmallVector<Operation *> later = findLaterUsers(op);
    if (later.empty() || !llvm::all_of(op->getUsers(), isLoop))
      return;
    FailureOr<SmallVector<Operation *>> chain = findChain(op);
    if (failed(chain))
      return;
    TITAN_DEBUG("titan-recompute-rows", llvm::errs() << "recompute " << chain->size()
                                                     << " operations up to " << op->getName()
                                                     << " for " << later.size() << " users\n");
    numRecomputed += chain->size();
    OpBuilder builder(later.front());
    IRMapping mapping;
    for (Operation *link : *chain)
      pending.push_back(builder.clone(*link, mapping));
    op->getResult(0).replaceUsesWithIf(mapping.lookup(op->getResult(0)), [&](OpOperand &use) {
      return llvm::is_contained(later, use.getOwner());
    });
  }

  /// More operations would make the loop compute-bound.
  static constexpr size_t kMaxRecomputedOps = 6;

  Block &block;
  dist::Degrees degrees;
};

struct RecomputeRows : titan::fusion::impl::TitanRecomputeRowsBase<RecomputeRows> {
  void runOnOperation() override {
    for (Block *block : fusion::getBodies(getOperation())) {
      Recompute recompute(*block);
      recompute.run();
      TITAN_COUNT(scannedGathers, recompute.numScanned);
      TITAN_COUNT(recomputedOps, recompute.numRecomputed);
    }
  }
};

} // namespace
