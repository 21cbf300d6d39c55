// The pass --dist-join-reductions.

#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/PassReport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include <algorithm>

namespace titan::dist {
#define GEN_PASS_DEF_DISTJOINREDUCTIONS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::getTensorType;

namespace {

/// A sum of several terms: additions whose results have no other use than the next addition.
class Sum {
public:
  explicit Sum(ir::AddOp root) : root(root) { collect(root); }

  /// Returns the number of reductions that are no longer needed.
  unsigned join() {
    for (Value term : terms)
      if (auto reduction = term.getDefiningOp<ReshardOp>();
          reduction && term.getType() == root.getResult().getType() && canWait(reduction))
        groups[{getTensorType(reduction.getInput()), getTensorType(term)}].push_back(reduction);
    groups.remove_if([](const auto &group) { return group.second.size() < 2; });
    if (groups.empty())
      return 0;
    unsigned numJoined = 0;
    for (const auto &[types, reductions] : groups) {
      llvm::erase_if(
          terms, [&](Value term) { return llvm::is_contained(reductions, term.getDefiningOp()); });
      terms.push_back(reduceOnce(reductions));
      numJoined += reductions.size() - 1;
    }
    // A term of the type of the sum first, to which the others are repeated.
    std::stable_partition(terms.begin(), terms.end(),
                          [&](Value term) { return term.getType() == root.getResult().getType(); });
    root.replaceAllUsesWith(addUp(terms));
    erase();
    return numJoined;
  }

  /// Whether the addition is the last one of its sum.
  static bool isRoot(ir::AddOp add) {
    auto next = add->hasOneUse() ? dyn_cast<ir::AddOp>(*add->user_begin()) : ir::AddOp();
    return isSum(add) && !(next && isInner(add, next));
  }

private:
  /// Whether a term has the type of the sum; the other one may be repeated along more dimensions.
  static bool isSum(ir::AddOp add) {
    return llvm::is_contained(add->getOperandTypes(), Type(add.getResult().getType()));
  }

  static bool isInner(ir::AddOp add, ir::AddOp next) {
    return add->hasOneUse() && add->getBlock() == next->getBlock() && isSum(add) && isSum(next) &&
           add.getResult().getType() == next.getResult().getType();
  }

  void collect(ir::AddOp add) {
    additions.push_back(add);
    for (Value term : add->getOperands())
      if (auto nested = term.getDefiningOp<ir::AddOp>(); nested && isInner(nested, add))
        collect(nested);
      else
        terms.push_back(term);
  }

  /// Whether the reduction may run after the last addition.
  bool canWait(ReshardOp reduction) {
    ShardingAttr from = getTensorType(reduction.getInput()).getShardingOrReplicated(),
                 to = getTensorType(reduction.getResult()).getShardingOrReplicated();
    if (from.getPartialKind() != ReductionKind::Sum || to.isPartial() || !from.isPartial() ||
        !reduction->hasOneUse() || reduction->getBlock() != root->getBlock())
      return false;
    for (Operation *op = reduction; op != root; op = op->getNextNode())
      if (isa<ir::RepeatOp>(op))
        return false;
    return true;
  }

  Value addUp(ArrayRef<Value> values) {
    OpBuilder builder(root);
    Value sum = values.front();
    for (Value value : values.drop_front())
      sum = builder.create<ir::AddOp>(root.getLoc(), sum.getType(), sum, value);
    return sum;
  }

  Value reduceOnce(ArrayRef<ReshardOp> reductions) {
    SmallVector<Value> partial;
    for (ReshardOp reduction : reductions)
      partial.push_back(reduction.getInput());
    OpBuilder builder(root);
    Value sum = addUp(partial);
    ReshardOp first = reductions.front();
    return builder.create<ReshardOp>(first.getLoc(), first.getResult().getType(), sum);
  }

  /// Erases the old additions, users first, and the reductions of joined terms.
  void erase() {
    for (ir::AddOp add : additions)
      add->erase();
    for (const auto &[types, reductions] : groups)
      for (ReshardOp reduction : reductions)
        reduction->erase();
  }

  ir::AddOp root;
  SmallVector<ir::AddOp> additions; ///< from the last one on
  SmallVector<Value> terms;
  llvm::MapVector<std::pair<Type, Type>, SmallVector<ReshardOp>> groups; ///< by their types
};

struct JoinReductions : titan::dist::impl::DistJoinReductionsBase<JoinReductions> {
  void runOnOperation() override {
    SmallVector<ir::AddOp> roots;
    getOperation().walk([&](ir::AddOp add) {
      if (Sum::isRoot(add))
        roots.push_back(add);
    });
    for (ir::AddOp root : roots)
      TITAN_COUNT(joinedReductions, Sum(root).join());
  }
};

} // namespace
