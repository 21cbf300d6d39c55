// The operations of a chunked loss.

#include "dialects/titan/Transforms/Gradient/ChunkGroup.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include <numeric>

using namespace mlir;
using namespace titan;
using namespace titan::ir;

static bool hasDim(Value value, StringAttr dim) {
  return cast<NamedTensorType>(value.getType()).hasDim(dim);
}

bool ChunkGroup::isLarge(Value value, GetSize getSize) const {
  return hasDim(value, dim) && 2 * getSize(value) > largest;
}

/// Whether the group may contain `op`: an operation without regions, in the scope if there is one.
bool ChunkGroup::isCandidate(Operation &op) const {
  return op.getNumRegions() == 0 && (!scope || scope->contains(&op));
}

/// Whether a repeat returns a value with the dimensions of `value`.
static bool hasDimsOfRepeatResult(Block &block, Value value) {
  ArrayRef<DimAttr> dims = cast<NamedTensorType>(value.getType()).getDims();
  return llvm::any_of(block.getOps<RepeatOp>(), [&](RepeatOp repeat) {
    return llvm::any_of(repeat.getResults(), [&](Value result) {
      return cast<NamedTensorType>(result.getType()).getDims() == dims;
    });
  });
}

/// With a scope, values with the dimensions of a repeat's result do not count: they come from
/// outside and stay whole.
void ChunkGroup::findLargest(GetSize getSize) {
  for (Operation &op : block->without_terminator())
    if (isCandidate(op))
      for (Value result : op.getResults())
        if (hasDim(result, dim) && !(scope && hasDimsOfRepeatResult(*block, result)))
          largest = std::max(largest, getSize(result));
}

/// The operations that produce or read large values, and those on paths between two of these.
void ChunkGroup::collect(GetSize getSize) {
  llvm::DenseSet<Operation *> core, before;
  auto large = [&](Value value) { return isLarge(value, getSize); };
  for (Operation &op : block->without_terminator())
    if (isCandidate(op) &&
        (llvm::any_of(op.getResults(), large) || llvm::any_of(op.getOperands(), large)))
      core.insert(&op);
  auto isOf = [](const llvm::DenseSet<Operation *> &set, Operation *op) {
    return op && set.contains(op);
  };
  for (Operation &op : block->without_terminator()) {
    bool reads = false;
    op.walk([&](Operation *inner) {
      reads |= llvm::any_of(inner->getOperands(), [&](Value value) {
        return isOf(core, value.getDefiningOp()) || isOf(dependents, value.getDefiningOp());
      });
    });
    if (reads)
      dependents.insert(&op);
  }
  for (Operation &op : llvm::reverse(block->without_terminator()))
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          Operation *ancestor = block->findAncestorOpInBlock(*user);
          return isOf(core, ancestor) || isOf(before, ancestor);
        }))
      before.insert(&op);
  for (Operation &op : block->without_terminator())
    if (core.contains(&op) || (dependents.contains(&op) && before.contains(&op)))
      ops.insert(&op);
}

/// The factor to slice: that of an operand that the group slices already, else that of `dim` in an
/// operand from outside, else that of `dim` in a result.
const dist::Factor *ChunkGroup::findFactor(Operation *op, const dist::ShardingRule &rule) const {
  auto find = [&](auto has) {
    auto it = llvm::find_if(rule.factors, has);
    return it == rule.factors.end() ? nullptr : &*it;
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (Dependence dependence = getDependence(operand);
        contains(operand.getDefiningOp()) && dependence.kind == Dependence::Sliced)
      return find([&, i = i](const dist::Factor &factor) {
        return factor.operandDims[i] == static_cast<int>(dependence.dim);
      });
  auto isAlongDim = [&](Value value, int at) {
    return at >= 0 && cast<NamedTensorType>(value.getType()).getDims()[at].getName() == dim;
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (!contains(operand.getDefiningOp()) && hasDim(operand, dim))
      return find([&, i = i, operand = operand](const dist::Factor &factor) {
        return isAlongDim(operand, factor.operandDims[i]);
      });
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (hasDim(result, dim))
      return find([&, i = i, result = Value(result)](const dist::Factor &factor) {
        return isAlongDim(result, factor.resultDims[i]);
      });
  return nullptr;
}

bool ChunkGroup::follow(Operation *op) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return false;
  dist::ShardingRule rule = ruled.getShardingRule();
  const dist::Factor *factor = findFactor(op, rule);
  auto dependOnChunk = [&](ValueRange values) {
    return llvm::any_of(values, [&](Value value) {
      return hasDim(value, dim) || getDependence(value).kind != Dependence::Invariant;
    });
  };
  if (!factor) // equal for all chunks
    return !dependOnChunk(op->getOperands()) && !dependOnChunk(op->getResults());
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (int at = factor->operandDims[i]; at >= 0 && !contains(operand.getDefiningOp())) {
      Dependence dependence{Dependence::Sliced, static_cast<unsigned>(at)};
      // A value cannot be sliced along two dimensions.
      if (!sliced.insert(operand) && getDependence(operand) != dependence)
        return false;
      dependences[operand] = dependence;
    }
  if (llvm::none_of(factor->operandDims, [](int at) { return at >= 0; })) {
    // No operand has the dimension, so every iteration creates one chunk. A reduction
    // along the dimension or a positional operation cannot.
    if (factor->kind != dist::FactorKind::Parallel || !mayChunkAlong(op, *factor))
      return false;
    for (auto [result, at] : llvm::zip_equal(op->getResults(), factor->resultDims))
      if (at >= 0)
        dependences[result] = {Dependence::Sliced, static_cast<unsigned>(at)};
    return !dependOnChunk(op->getOperands());
  }
  auto results = inferResults(op, [&](Value value) { return getDependence(value); });
  if (results)
    for (auto [result, dependence] : llvm::zip_equal(op->getResults(), *results))
      dependences[result] = dependence;
  return results.has_value();
}

/// Collects the results with users outside the group.
void ChunkGroup::collectResults() {
  for (Operation *op : ops)
    for (Value result : op->getResults()) {
      bool isRead = llvm::any_of(result.getUsers(), [&](Operation *user) {
        return !contains(block->findAncestorOpInBlock(*user));
      });
      Dependence::Kind kind = getDependence(result).kind;
      if (isRead && kind != Dependence::Invariant)
        (kind == Dependence::Accumulated ? sums : stacked).push_back(result);
    }
}

/// A large value that stays whole because an operation outside the group produces or reads it.
Value ChunkGroup::findLargeOutside(GetSize getSize) const {
  for (ArrayRef<Value> values : {sliced.getArrayRef(), ArrayRef<Value>(stacked)})
    for (Value value : values)
      if (isLarge(value, getSize))
        return value;
  return nullptr;
}

int64_t ChunkGroup::getChunkableSize() const {
  int64_t size = 0;
  for (auto [value, dependence] : dependences)
    if (dependence.kind == Dependence::Sliced)
      size = std::gcd(size, cast<NamedTensorType>(value.getType()).getShape()[dependence.dim]);
  return size;
}

Operation *ChunkGroup::build(GetSize getSize) {
  findLargest(getSize);
  collect(getSize);
  for (Operation *op : ops)
    if (!follow(op))
      return op;
  collectResults();
  return nullptr;
}

static ChunkGroup::Obstacle getObstacle(Operation *op, const Twine &what, StringAttr dim) {
  return {op, (what + " `" + dim.getValue() + "`").str()};
}

static ChunkGroup::Obstacle cannotChunk(Operation *op, StringAttr dim) {
  return getObstacle(op, "this operation cannot be computed in chunks along", dim);
}

FailureOr<ChunkGroup> ChunkGroup::find(Block &block, StringAttr dim, GetSize getSize,
                                       Obstacle &obstacle) {
  ChunkGroup group(block, dim);
  if (Operation *op = group.build(getSize)) {
    obstacle = cannotChunk(op, dim);
    return failure();
  }
  if (Value value = group.findLargeOutside(getSize)) {
    Operation *op = value.getDefiningOp();
    obstacle = getObstacle(
        op ? op : block.getParentOp(),
        "this value is as large and has other users, so chunks would save no memory:", dim);
    return failure();
  }
  return group;
}

FailureOr<ChunkGroup> ChunkGroup::findIn(const llvm::DenseSet<Operation *> &scope, Block &block,
                                         StringAttr dim, GetSize getSize, Obstacle &obstacle) {
  ChunkGroup group(block, dim);
  group.scope = &scope;
  Operation *op = group.build(getSize);
  group.scope = nullptr; // owned by the caller
  if (!op && !group.ops.empty())
    return group;
  if (op)
    obstacle = cannotChunk(op, dim);
  return failure();
}
