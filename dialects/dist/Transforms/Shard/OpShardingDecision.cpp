// Decides the sharding of one operation.

#include "dialects/dist/Transforms/Shard/OpShardingDecision.h"
#include "dialects/dist/Transforms/Shard/FlatPadding.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

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
    have.push_back(mesh.getByAxis(dist::getSharding(operand)));
    sizes.operands.push_back(cast<NamedTensorType>(operand.getType()).getNumElements());
    sizes.mayForward.push_back(operand.hasOneUse() && operand.getParentBlock() == op->getBlock());
  }
  for (OpResult result : op->getResults()) {
    wanted.push_back(mesh.getByAxis(dist::getSharding(result)));
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

/// Whether the axis shards the heads of this attention instead of its positions.
bool OpShardingDecision::movesToHeads(size_t a) const {
  return rule.attention && mesh.getAxes()[a].attention == AttentionSplit::Heads;
}

/// Whether keys come from a cache, which may have narrower rows than the model's keys and no heads.
/// An axis then shards the queries.
static bool hasCachedKeys(Operation *op) {
  auto attention = dyn_cast<ir::AttentionOp>(op);
  return attention && attention.getStart();
}

/// Axes that move from positions to heads come last: they divide what the others leave of the
/// heads, and one all-to-all appends them to the axes of the heads.
void OpShardingDecision::decide() {
  degrees.assign(rule.factors.size(), 1);
  for (bool isLast : {false, true})
    for (size_t a = 0; a < mesh.getNumAxes(); ++a)
      if (movesToHeads(a) == isLast)
        decideAxis(a);
}

void OpShardingDecision::decideAxis(size_t a) {
  Assignment assignment = assignAxis(rule, getUse(a), sizes, mesh.getAxes()[a], degrees);
  if (assignment.kind == Assignment::Split) {
    if (movesToHeads(a) && assignment.factor == rule.attention->queries && !hasCachedKeys(op))
      failedAxes.push_back(a);
    degrees[assignment.factor] *= std::max<int64_t>(1, mesh.getAxes()[a].degree);
    split(a, rule.factors[assignment.factor]);
    if (movesToHeads(a) && assignment.factor == rule.attention->heads)
      for (ShardingByAxis &byAxis : llvm::concat<ShardingByAxis>(operands, results))
        byAxis.inner.push_back(static_cast<int>(a));
    if (int joint = findJointFactor(rule, assignment.factor, mesh.getAxes()[a]); joint >= 0)
      splitJointly(a, rule.factors[joint]);
  } else if (assignment.kind == Assignment::ForwardPartial) {
    for (unsigned i : rule.linearSets[assignment.set])
      operands[i].dimOfAxis[a] = kPartial;
    for (ShardingByAxis &result : results)
      result.dimOfAxis[a] = kPartial;
  } else if (assignment.kind == Assignment::Flat) {
    shardFlat(a);
  }
}

LogicalResult OpShardingDecision::verify() const {
  if (failedAxes.empty())
    return success();
  const AxisInfo &axis = mesh.getAxes()[failedAxes.front()];
  InFlightDiagnostic error = op->emitError("axis '")
                             << axis.name << "' of degree " << axis.degree
                             << " cannot compute this attention by all_to_all: ";
  if (rule.attention->heads < 0)
    return error << "queries and keys share no dimension that it could shard instead of positions";
  const Factor &heads = rule.factors[rule.attention->heads];
  const int64_t size = heads.size / degrees[rule.attention->heads];
  error << "it does not divide the " << size << " elements of '" << heads.name
        << "' that the other axes leave to a rank";
  SmallVector<int64_t> legal;
  for (int64_t degree = 1; degree <= size; ++degree)
    if (size % degree == 0)
      legal.push_back(degree);
  llvm::interleaveComma(legal, error.attachNote() << "the legal degrees are ");
  error.attachNote() << "attention by ring or gather works with any number of heads";
  return error;
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

/// Shards the dimensions of `joint`, the factor that an axis shards together with its first factor.
void OpShardingDecision::splitJointly(size_t a, const Factor &joint) {
  for (auto [i, dim] : llvm::enumerate(joint.operandDims))
    if (dim >= 0)
      operands[i].dimOfAxis[a] = dim;
  for (auto [i, dim] : llvm::enumerate(joint.resultDims))
    if (dim >= 0)
      results[i].dimOfAxis[a] = dim;
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
