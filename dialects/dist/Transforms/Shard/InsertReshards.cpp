//===- InsertReshards.cpp - Operands lie as operations need them ----------===//

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/dist/Transforms/Shard/ReshardCache.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTINSERTRESHARDS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

static ShardingAttr getShardingOf(Value value) {
  return cast<NamedTensorType>(value.getType()).getShardingOrReplicated();
}

static void setSharding(Value value, ShardingAttr sharding) {
  value.setType(cast<NamedTensorType>(value.getType()).withSharding(sharding));
}

/// Padding of flat storage holds 0 in what functions and reshards give (and so in stacks of it and
/// slices of those), but not in what is computed from it.
static bool hasZeroPadding(Value value) {
  if (isa<BlockArgument>(value))
    return true;
  if (auto repeat = value.getDefiningOp<ir::RepeatOp>())
    return hasZeroPadding(repeat.getYield().getOperand(cast<OpResult>(value).getResultNumber()));
  return isa<ReshardOp>(value.getDefiningOp());
}

namespace {

/// One operation: what each axis does to it, and the layouts that follow.
class OpLayout {
public:
  OpLayout(Operation *op, const MeshView &mesh) : op(op), mesh(mesh) {
    rule = cast<ir::ShardingRuleOpInterface>(op).getShardingRule();
    rule.contractsFlat &= llvm::all_of(op->getOperands(), hasZeroPadding);
    for (Value operand : op->getOperands()) {
      have.push_back(mesh.getPlaces(getShardingOf(operand)));
      sizes.operands.push_back(cast<NamedTensorType>(operand.getType()).getNumElements());
      sizes.mayPass.push_back(operand.hasOneUse() && operand.getParentBlock() == op->getBlock());
    }
    for (Value result : op->getResults()) {
      wanted.push_back(mesh.getPlaces(getShardingOf(result)));
      sizes.results.push_back(cast<NamedTensorType>(result.getType()).getNumElements());
    }
    operands.assign(have.size(), mesh.getNoPlaces());
    results.assign(wanted.size(), mesh.getNoPlaces());
    decide();
  }

  ShardingAttr getOperandSharding(unsigned i) const {
    return getSharding(op->getOperand(i), operands[i]);
  }
  ShardingAttr getResultSharding(unsigned i) const {
    return getSharding(op->getResult(i), results[i]);
  }

private:
  ShardingAttr getSharding(Value value, const Places &places) const {
    return mesh.getSharding(cast<NamedTensorType>(value.getType()).getRank(), places);
  }

  void decide() {
    std::vector<int64_t> parts(rule.factors.size(), 1);
    for (size_t a = 0; a < mesh.getNumAxes(); ++a) {
      Assignment assignment = assignAxis(rule, getUse(a), sizes, mesh.getAxes()[a], parts);
      if (assignment.kind == Assignment::Split) {
        parts[assignment.factor] *= std::max<int64_t>(1, mesh.getAxes()[a].degree);
        split(a, rule.factors[assignment.factor]);
      } else if (assignment.kind == Assignment::Pass) {
        for (unsigned i : rule.linearSets[assignment.set])
          operands[i].axes[a] = kPartial;
        for (Places &result : results)
          result.axes[a] = kPartial;
      } else if (assignment.kind == Assignment::Flat) {
        lieFlat(a);
      }
    }
  }

  AxisUse getUse(size_t a) const {
    AxisUse use;
    for (const Places &places : have) {
      bool isSum = places.kind == ReductionKind::Sum;
      use.operands.push_back(places.axes[a] == kPartial && !isSum ? int(kNowhere) : places.axes[a]);
    }
    for (const Places &places : wanted)
      use.results.push_back(places.axes[a]);
    return use;
  }

  void split(size_t a, const Factor &factor) {
    for (auto [i, dim] : llvm::enumerate(factor.operandDims))
      operands[i].axes[a] = dim;
    for (auto [i, dim] : llvm::enumerate(factor.resultDims)) {
      bool isPartial = dim < 0 && factor.kind != FactorKind::Parallel;
      results[i].axes[a] = isPartial ? int(kPartial) : dim;
      if (isPartial)
        results[i].kind = factor.kind == FactorKind::Sum   ? ReductionKind::Sum
                          : factor.kind == FactorKind::Max ? ReductionKind::Max
                                                           : ReductionKind::Min;
    }
  }

  void lieFlat(size_t a) {
    int from = 0;
    for (const Places &places : llvm::concat<const Places>(wanted, have))
      if (places.axes[a] == kFlat)
        from = places.flatFrom;
    for (auto [i, places] : llvm::enumerate(operands))
      if (cast<NamedTensorType>(op->getOperand(i).getType()).getRank() > 0)
        std::tie(places.axes[a], places.flatFrom) = std::tuple(int(kFlat), from);
    for (Places &places : results)
      std::tie(places.axes[a], places.flatFrom) =
          std::tuple(rule.contractsFlat ? int(kPartial) : int(kFlat), from);
  }

  Operation *op;
  const MeshView &mesh;
  ShardingRule rule;
  ValueSizes sizes;
  std::vector<Places> have, wanted, operands, results;
};

/// Walks a function in program order: operands have their final layouts when an operation is
/// reached.
class Inserter {
public:
  explicit Inserter(const MeshView &mesh) : mesh(mesh) {}

  void run(func::FuncOp function) {
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        wanted[result] = getShardingOf(result);
    });
    visitBlock(function.getBody().front());
    cache.simplify();
    mergeTables(function);
  }

private:
  void visitBlock(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto anchor = dyn_cast<ir::AnchorOp>(op)) {
        anchor.replaceAllUsesWith(cache.get(anchor.getInput(), getShardingOf(anchor), anchor));
        anchor.erase();
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
    OpLayout layout(op, mesh);
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      reshardOperand(op, i, layout.getOperandSharding(i));
    for (OpResult result : op->getResults()) {
      setSharding(result, layout.getResultSharding(result.getResultNumber()));
      settle(result);
    }
  }

  void reshardOperand(Operation *op, unsigned i, ShardingAttr sharding) {
    op->setOperand(i, cache.get(op->getOperand(i), sharding, op));
  }

  /// Reduces a partial value where it is made unless one operation, here, uses it: that one may
  /// pass it on or reduce it to what it needs.
  void settle(Value result) {
    if (!getShardingOf(result).isPartial() || result.use_empty())
      return;
    if (result.hasOneUse() &&
        result.getUses().begin()->getOwner()->getBlock() == result.getParentBlock())
      return;
    cache.replaceAllUses(result, getReduced(result));
  }

  /// The layout of a value without its partial sums, which go where propagation wanted their axes.
  ShardingAttr getReduced(Value value) const {
    Places places = mesh.getPlaces(getShardingOf(value));
    auto it = wanted.find(value);
    Places goal = it == wanted.end() ? mesh.getNoPlaces() : mesh.getPlaces(it->second);
    for (size_t a = 0; a < mesh.getNumAxes(); ++a)
      if (places.axes[a] == kPartial)
        places.axes[a] = goal.axes[a] >= 0 ? goal.axes[a] : int(kNowhere);
    return mesh.getSharding(cast<NamedTensorType>(value.getType()).getRank(), places);
  }

  void visitRepeat(ir::RepeatOp repeat) {
    unsigned carried = repeat.getNumCarried();
    for (auto [i, arg] : llvm::enumerate(repeat.getCarriedArgs()))
      reshardOperand(repeat, i, getShardingOf(arg));
    for (auto [i, arg] : llvm::enumerate(repeat.getSliceArgs())) {
      reshardOperand(repeat, carried + i, getSliceable(repeat.getSlices()[i]));
      arg.setType(
          ir::RepeatOp::getSliceType(cast<NamedTensorType>(repeat.getSlices()[i].getType())));
    }
    visitBlock(repeat.getBody().front());
    ir::YieldOp yield = repeat.getYield();
    for (unsigned i = 0; i < yield.getNumOperands(); ++i) {
      Value value = yield.getOperand(i);
      reshardOperand(yield, i,
                     i < carried ? getShardingOf(repeat.getCarriedArgs()[i]) : getReduced(value));
      auto type = cast<NamedTensorType>(yield.getOperand(i).getType());
      repeat.getResult(i).setType(
          i < carried ? type : ir::RepeatOp::getStackedType(repeat.getDim(), type));
    }
  }

  /// The layout of a stack without what would cut through its first dimension.
  ShardingAttr getSliceable(Value stack) const {
    Places places = mesh.getPlaces(getReduced(stack));
    for (int &place : places.axes)
      if (place == 0 || (place == kFlat && places.flatFrom == 0))
        place = kNowhere;
    return mesh.getSharding(cast<NamedTensorType>(stack.getType()).getRank(), places);
  }

  /// Index tables that propagation copied and that turned out alike become one again.
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
};

struct InsertReshards : titan::dist::impl::DistInsertReshardsBase<InsertReshards> {
  void runOnOperation() override {
    FailureOr<MeshView> mesh = MeshView::get(getOperation());
    if (failed(mesh))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        Inserter(*mesh).run(function);
  }
};

} // namespace
