// The pass --dist-insert-reshards.

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/dist/Transforms/Shard/OpShardingDecision.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/dist/Transforms/Shard/ReshardCache.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/PassReport.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTINSERTRESHARDS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

static void setSharding(Value value, ShardingAttr sharding) {
  value.setType(cast<NamedTensorType>(value.getType()).withSharding(sharding));
}

namespace {

/// Walks a function in program order, so that operands have their final shardings before an
/// operation is visited.
class Inserter {
public:
  explicit Inserter(const MeshView &mesh) : mesh(mesh) {}

  LogicalResult run(func::FuncOp function) {
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        wanted[result] = getSharding(result);
    });
    visitBlock(function.getBody().front());
    cache.simplify();
    mergeTables(function);
    return success(!hasFailed);
  }

private:
  void visitBlock(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto constraint = dyn_cast<ir::ShardingConstraintOp>(op)) {
        constraint.replaceAllUsesWith(
            cache.get(constraint.getInput(), getSharding(constraint), constraint));
        constraint.erase();
      } else if (auto repeat = dyn_cast<ir::RepeatOp>(op)) {
        visitRepeat(repeat);
      } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
        auto types = op.getParentOfType<func::FuncOp>().getResultTypes();
        for (auto [i, type] : llvm::enumerate(types))
          reshardOperand(&op, i, cast<NamedTensorType>(type).getShardingOrReplicated());
      } else if (isa<ir::ShardingRuleOpInterface>(op)) {
        visit(&op);
      }
    }
  }

  void visit(Operation *op) {
    if (isa<ir::RepeatOp>(op->getParentOp()) && op->getNumOperands() == 2)
      for (unsigned i : {0, 1})
        carryPartialSum(op, i);
    OpShardingDecision decision(op, mesh);
    hasFailed =
        hasFailed || failed(decision.verify()); // one error: gradients fail for the same reason
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      reshardOperand(op, i, decision.getOperandSharding(i));
    for (OpResult result : op->getResults()) {
      setSharding(result, decision.getResultSharding(result.getResultNumber()));
      reduceUnlessForwarded(result);
    }
  }

  /// If the only use of `value` is a yield as the next value of `carried`: the last constraint on
  /// that path, or `value`'s own operation. Null otherwise.
  static Operation *findYieldPath(Value value, BlockArgument carried) {
    if (!value.hasOneUse())
      return nullptr;
    OpOperand &use = *value.getUses().begin();
    if (auto constraint = dyn_cast<ir::ShardingConstraintOp>(use.getOwner()))
      return findYieldPath(constraint.getResult(), carried) ? constraint : nullptr;
    bool isNext =
        isa<ir::YieldOp>(use.getOwner()) && use.getOperandNumber() + 1 == carried.getArgNumber();
    return isNext ? value.getDefiningOp() : nullptr;
  }

  /// Makes an iteration argument partial if it only accumulates partial sums, to reduce it once
  /// after the repeat.
  void carryPartialSum(Operation *op, unsigned operand) {
    auto carried = dyn_cast<BlockArgument>(op->getOperand(operand));
    Value added = op->getOperand(1 - operand);
    if (!carried || carried.getOwner() != op->getBlock() || !isCarried(carried) ||
        !carried.hasOneUse() || getSharding(carried).isPartial() ||
        !isOnlyCarriedElsewhere(carried) || !added.hasOneUse() ||
        added.getParentBlock() != op->getBlock() ||
        getSharding(added).getPartialKind() != ReductionKind::Sum)
      return;
    ShardingRule rule = cast<ir::ShardingRuleOpInterface>(op).getShardingRule();
    bool isLinear = llvm::any_of(rule.linearSets, [](const auto &set) { return set.size() == 2; });
    Operation *path = isLinear ? findYieldPath(op->getResult(0), carried) : nullptr;
    if (!path)
      return;
    ShardingByAxis carriedAxes = mesh.getByAxis(getSharding(carried)),
                   addedAxes = mesh.getByAxis(getSharding(added));
    for (size_t a = 0; a < mesh.getNumAxes(); ++a)
      if (addedAxes.dimOfAxis[a] == kPartial && carriedAxes.dimOfAxis[a] == kReplicated)
        carriedAxes.dimOfAxis[a] = kPartial;
    ShardingAttr sharding =
        mesh.getSharding(cast<NamedTensorType>(carried.getType()).getRank(), carriedAxes);
    for (const ir::RepeatVariant &body : cast<ir::RepeatOp>(op->getParentOp()).getVariants())
      setSharding(body.getBlock().getArgument(carried.getArgNumber()), sharding);
    for (; isa<ir::ShardingConstraintOp>(path); path = *path->getResult(0).getUsers().begin())
      setSharding(path->getResult(0), getSharding(carried));
  }

  static bool isCarried(BlockArgument argument) {
    return llvm::is_contained(ir::findVariant(argument.getOwner())->getIterArgs(), argument);
  }

  /// Whether all other variants only forward or accumulate the same iteration argument. Variants
  /// visited before must forward it, because their terms already have another sharding.
  static bool isOnlyCarriedElsewhere(BlockArgument carried) {
    ir::RepeatVariant here = *ir::findVariant(carried.getOwner());
    return llvm::all_of(here.getRepeat().getVariants(), [&](const ir::RepeatVariant &body) {
      BlockArgument other = body.getBlock().getArgument(carried.getArgNumber());
      if (other == carried)
        return true;
      if (!other.hasOneUse())
        return false;
      OpOperand &use = *other.getUses().begin();
      if (isa<ir::YieldOp>(use.getOwner()))
        return use.getOperandNumber() + 1 == other.getArgNumber();
      return body.getNumber() > here.getNumber() && isa<ir::AddOp>(use.getOwner()) &&
             findYieldPath(use.getOwner()->getResult(0), other);
    });
  }

  void reshardOperand(Operation *op, unsigned i, ShardingAttr sharding) {
    op->setOperand(i, cache.get(op->getOperand(i), sharding, op));
  }

  /// Reduces a partial value at its definition, unless its only use is in the same block. That use
  /// may forward the partial value or reshard it.
  void reduceUnlessForwarded(Value result) {
    if (!getSharding(result).isPartial() || result.use_empty())
      return;
    if (result.hasOneUse() &&
        result.getUses().begin()->getOwner()->getBlock() == result.getParentBlock())
      return;
    cache.replaceAllUses(result, getReduced(result));
  }

  /// The reduced sharding of a value. Partial axes shard the dimension that propagation preferred,
  /// if any.
  ShardingAttr getReduced(Value value) const {
    ShardingByAxis byAxis = mesh.getByAxis(getSharding(value));
    auto it = wanted.find(value);
    ShardingByAxis goal = it == wanted.end() ? mesh.getReplicated() : mesh.getByAxis(it->second);
    for (size_t a = 0; a < mesh.getNumAxes(); ++a)
      if (byAxis.dimOfAxis[a] == kPartial)
        byAxis.dimOfAxis[a] = goal.dimOfAxis[a] >= 0 ? goal.dimOfAxis[a] : int(kReplicated);
    return mesh.getSharding(cast<NamedTensorType>(value.getType()).getRank(), byAxis);
  }

  void visitRepeat(ir::RepeatOp repeat) {
    for (unsigned i = 0; i < repeat.getScannedInputs().size(); ++i)
      reshardOperand(repeat, repeat.getNumIterArgs() + i,
                     getSliceable(repeat.getScannedInputs()[i]));
    for (const ir::RepeatVariant &body : repeat.getVariants()) {
      for (auto [stack, slice, number] : body.getScannedInputs())
        slice.setType(ir::RepeatOp::getSlotType(cast<NamedTensorType>(stack.getType())));
      visitBlock(body.getBlock());
    }
    for (auto [i, arg] : llvm::enumerate(repeat.getVariant(0).getIterArgs())) {
      reshardOperand(repeat, i, getSharding(arg));
      for (const ir::RepeatVariant &body : repeat.getVariants())
        reshardOperand(body.getYield(), i, getSharding(arg));
      setSharding(repeat.getResult(i), getSharding(arg));
      reduceUnlessForwarded(repeat.getResult(i));
    }
    for (Value stack : repeat.getStackedOutputs())
      visitStack(repeat, cast<OpResult>(stack));
  }

  /// A stack has the sharding of the first variant's slots; the other variants reshard to it.
  void visitStack(ir::RepeatOp repeat, OpResult stack) {
    ShardingAttr sharding = getReduced(repeat.getYielded(stack.getResultNumber()).front());
    for (const ir::RepeatVariant &body : repeat.getVariants())
      for (auto [value, result, operand] : body.getStackedOutputs())
        if (result == stack)
          reshardOperand(body.getYield(), operand, sharding);
    auto type = cast<NamedTensorType>(stack.getType());
    Value slot = repeat.getYielded(stack.getResultNumber()).front();
    stack.setType(ir::RepeatOp::getStackedType(type.getDims().front(),
                                               cast<NamedTensorType>(slot.getType())));
    reduceUnlessForwarded(stack);
  }

  /// The sharding of a stack without axes that would shard its leading dimension.
  ShardingAttr getSliceable(Value stack) const {
    ShardingByAxis byAxis = mesh.getByAxis(getReduced(stack));
    for (int &dim : byAxis.dimOfAxis)
      if (dim == 0 || (dim == kFlat && byAxis.flatFrom == 0))
        dim = kReplicated;
    return mesh.getSharding(cast<NamedTensorType>(stack.getType()).getRank(), byAxis);
  }

  /// Merges copies of index tables that have equal shardings again.
  static void mergeTables(func::FuncOp function) {
    DenseMap<std::tuple<Block *, OperationName, Attribute, Type>, Operation *> first;
    SmallVector<Operation *> tables;
    function.walk([&](Operation *op) {
      if (op->getNumOperands() == 0 && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
          isPure(op) && cast<NamedTensorType>(op->getResult(0).getType()).getRank() > 0)
        tables.push_back(op);
    });
    for (Operation *table : tables) {
      Attribute attributes = DictionaryAttr::get(table->getContext(), table->getAttrs());
      auto [it, isNew] = first.try_emplace(
          {table->getBlock(), table->getName(), attributes, table->getResult(0).getType()}, table);
      if (isNew)
        continue;
      table->replaceAllUsesWith(it->second);
      table->erase();
    }
  }

  const MeshView &mesh;
  ReshardCache cache;
  DenseMap<Value, ShardingAttr> wanted;
  bool hasFailed = false;
};

struct InsertReshards : titan::dist::impl::DistInsertReshardsBase<InsertReshards> {
  void runOnOperation() override {
    auto insert = [](func::FuncOp function, const MeshView &mesh) {
      return Inserter(mesh).run(function);
    };
    if (failed(visitWithMesh(getOperation(), insert)))
      return signalPassFailure();
    getOperation().walk([&](ReshardOp reshard) {
      TITAN_COUNT(insertedReshards, 1);
      TITAN_DEBUG("dist-insert-reshards", llvm::errs() << reshard << '\n');
    });
  }
};

} // namespace
