// The pass --dist-widen-reductions.

#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorType.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTWIDENREDUCTIONS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::getTensorType;
using ir::NamedTensorType;

/// Whether the reshard sums over ranks.
static bool isReduction(ReshardOp reshard) {
  ShardingAttr from = getTensorType(reshard.getInput()).getShardingOrReplicated();
  ShardingAttr to = getTensorType(reshard.getResult()).getShardingOrReplicated();
  return from.getPartialKind() == ReductionKind::Sum &&
         from.getPartialAxes().size() > to.getPartialAxes().size();
}

/// The values from which `value` derives without computation other than additions.
static SmallVector<Value> getSources(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto repeat = dyn_cast<ir::RepeatOp>(arg.getOwner()->getParentOp());
    unsigned number = arg.getArgNumber();
    if (!repeat || number == 0 || number > repeat.getNumIterArgs())
      return {};
    // Another variant may have yielded it.
    SmallVector<Value> sources = repeat.getYielded(number - 1);
    sources.push_back(repeat.getInits()[number - 1]);
    return sources;
  }
  Operation *op = value.getDefiningOp();
  if (auto repeat = dyn_cast<ir::RepeatOp>(op))
    return repeat.getYielded(cast<OpResult>(value).getResultNumber());
  if (isa<ReshardOp, ir::AddOp, ir::CastOp, ir::ExpandOp, ir::RenameOp>(op))
    return SmallVector<Value>(op->getOperands());
  return {};
}

/// The reshards on the paths to gradients of parameters.
static DenseSet<Operation *> findGradientReshards(func::FuncOp function) {
  DenseSet<Operation *> found;
  DenseSet<Value> seen;
  SmallVector<Value> work;
  Operation *terminator = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (function.getResultAttr(i, ir::attr::kGradient))
      work.push_back(terminator->getOperand(i));
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto reshard = value.getDefiningOp<ReshardOp>())
      found.insert(reshard);
    llvm::append_range(work, getSources(value));
  }
  return found;
}

static void widen(ReshardOp reshard, Type element) {
  OpBuilder builder(reshard);
  Location loc = reshard.getLoc();
  Value sum = reshard.getInput();
  Type own = getTensorType(sum).getElementType();
  NamedTensorType wide = getTensorType(sum).withElementType(element);
  auto rounding = sum.getDefiningOp<ir::CastOp>();
  if (rounding && rounding.getRoundBeforeReduce() && rounding.getInput().getType() == wide)
    sum = rounding.getInput();
  else if (ir::isAccumulation(sum.getDefiningOp()) && sum.hasOneUse())
    sum.setType(wide);
  else
    sum = builder.create<ir::CastOp>(loc, sum, element);
  Type result = getTensorType(reshard.getResult()).withElementType(element);
  Value reduced = builder.create<ReshardOp>(loc, result, sum);
  reshard.replaceAllUsesWith(builder.create<ir::CastOp>(loc, reduced, own).getResult());
  reshard.erase();
  if (rounding && rounding->use_empty())
    rounding->erase();
}

namespace {
struct WidenReductions : titan::dist::impl::DistWidenReductionsBase<WidenReductions> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto precision = ir::PrecisionAttr::lookup(function);
    Type compute = precision.getCompute(), declared = precision.getActivationsReduce();
    if (function.isExternal() || !compute || !declared || compute == declared)
      return;
    DenseSet<Operation *> gradients = findGradientReshards(function);
    SmallVector<ReshardOp> reshards;
    function.walk([&](ReshardOp reshard) {
      if (isReduction(reshard) && !gradients.contains(reshard) &&
          getTensorType(reshard.getInput()).getElementType() == compute)
        reshards.push_back(reshard);
    });
    for (ReshardOp reshard : reshards)
      widen(reshard, declared);
  }
};
} // namespace
