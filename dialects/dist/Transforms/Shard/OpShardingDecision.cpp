//===- OpShardingDecision.cpp - Shardings of one operation ----------------===//

#include "dialects/dist/Transforms/Shard/OpShardingDecision.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

/// Whether the padding of flat storage is 0: in arguments of functions, results of reshards, stacks
/// and slots of such values, and casts of them. Computed values may hold anything there.
static bool hasZeroPadding(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    std::optional<ir::RepeatVariant> body = ir::findVariant(arg.getOwner());
    if (!body)
      return true;
    return llvm::any_of(body->getScannedInputs(),
                        [&](const ir::RepeatVariant::ScannedInput &slice) {
                          return slice.slot == arg && hasZeroPadding(slice.input);
                        });
  }
  if (auto repeat = value.getDefiningOp<ir::RepeatOp>())
    return llvm::all_of(repeat.getYielded(cast<OpResult>(value).getResultNumber()), hasZeroPadding);
  if (auto convert = value.getDefiningOp<ir::CastOp>())
    return hasZeroPadding(convert.getInput());
  return isa<ReshardOp>(value.getDefiningOp());
}

/// The width of a result's element over that of the narrowest floating-point operand. It scales the
/// cost of forwarding a partial sum in a wider type.
static int64_t getWidening(OpResult result) {
  auto getBits = [](Value value) {
    Type element = cast<NamedTensorType>(value.getType()).getElementType();
    return isa<FloatType>(element) ? element.getIntOrFloatBitWidth() : 64u;
  };
  unsigned narrowest = getBits(result);
  for (Value operand : result.getOwner()->getOperands())
    narrowest = std::min(narrowest, getBits(operand));
  return getBits(result) / narrowest;
}

OpShardingDecision::OpShardingDecision(Operation *op, const MeshView &mesh) : op(op), mesh(mesh) {
  rule = cast<ir::ShardingRuleOpInterface>(op).getShardingRule();
  rule.contractsFlat &= llvm::all_of(op->getOperands(), hasZeroPadding);
  for (Value operand : op->getOperands()) {
    have.push_back(mesh.getByAxis(getShardingOf(operand)));
    sizes.operands.push_back(cast<NamedTensorType>(operand.getType()).getNumElements());
    sizes.mayForward.push_back(operand.hasOneUse() && operand.getParentBlock() == op->getBlock());
  }
  for (OpResult result : op->getResults()) {
    wanted.push_back(mesh.getByAxis(getShardingOf(result)));
    sizes.results.push_back(cast<NamedTensorType>(result.getType()).getNumElements() *
                            getWidening(result));
  }
  operands.assign(have.size(), mesh.getReplicated());
  results.assign(wanted.size(), mesh.getReplicated());
  decide();
}

ShardingAttr OpShardingDecision::getOperandSharding(unsigned i) const {
  return getSharding(op->getOperand(i), operands[i]);
}

ShardingAttr OpShardingDecision::getResultSharding(unsigned i) const {
  return getSharding(op->getResult(i), results[i]);
}

ShardingAttr OpShardingDecision::getSharding(Value value, const ShardingByAxis &byAxis) const {
  return mesh.getSharding(cast<NamedTensorType>(value.getType()).getRank(), byAxis);
}

void OpShardingDecision::decide() {
  std::vector<int64_t> degrees(rule.factors.size(), 1);
  for (size_t a = 0; a < mesh.getNumAxes(); ++a) {
    Assignment assignment = assignAxis(rule, getUse(a), sizes, mesh.getAxes()[a], degrees);
    if (assignment.kind == Assignment::Split) {
      degrees[assignment.factor] *= std::max<int64_t>(1, mesh.getAxes()[a].degree);
      split(a, rule.factors[assignment.factor]);
    } else if (assignment.kind == Assignment::ForwardPartial) {
      for (unsigned i : rule.linearSets[assignment.set])
        operands[i].dimOfAxis[a] = kPartial;
      for (ShardingByAxis &result : results)
        result.dimOfAxis[a] = kPartial;
    } else if (assignment.kind == Assignment::Flat) {
      shardFlat(a);
    }
  }
}

AxisUse OpShardingDecision::getUse(size_t a) const {
  AxisUse use;
  for (const ShardingByAxis &byAxis : have) {
    bool isSum = byAxis.kind == ReductionKind::Sum;
    use.operands.push_back(byAxis.dimOfAxis[a] == kPartial && !isSum ? int(kReplicated)
                                                                     : byAxis.dimOfAxis[a]);
  }
  for (const ShardingByAxis &byAxis : wanted)
    use.results.push_back(byAxis.dimOfAxis[a]);
  return use;
}

void OpShardingDecision::split(size_t a, const Factor &factor) {
  for (auto [i, dim] : llvm::enumerate(factor.operandDims))
    operands[i].dimOfAxis[a] = dim;
  for (auto [i, dim] : llvm::enumerate(factor.resultDims)) {
    bool isPartial = dim < 0 && factor.kind != FactorKind::Parallel;
    results[i].dimOfAxis[a] = isPartial ? int(kPartial) : dim;
    if (isPartial)
      results[i].kind = factor.kind == FactorKind::Sum   ? ReductionKind::Sum
                        : factor.kind == FactorKind::Max ? ReductionKind::Max
                                                         : ReductionKind::Min;
  }
}

void OpShardingDecision::shardFlat(size_t a) {
  int from = 0;
  for (const ShardingByAxis &byAxis : llvm::concat<const ShardingByAxis>(wanted, have))
    if (byAxis.dimOfAxis[a] == kFlat)
      from = byAxis.flatFrom;
  for (auto [i, byAxis] : llvm::enumerate(operands))
    if (cast<NamedTensorType>(op->getOperand(i).getType()).getRank() > 0)
      std::tie(byAxis.dimOfAxis[a], byAxis.flatFrom) = std::tuple(int(kFlat), from);
  for (ShardingByAxis &byAxis : results)
    std::tie(byAxis.dimOfAxis[a], byAxis.flatFrom) =
        std::tuple(rule.contractsFlat ? int(kPartial) : int(kFlat), from);
}
