// Analysis of the values of a function that have one row per position.

#include "dialects/titan/Transforms/Model/PositionChunks.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

bool PositionChunks::refuse(Operation *op, StringRef why) {
  if (!obstacle.op)
    obstacle = {op, why.str()};
  return false;
}

static Dependence rowsAlong(int64_t at) {
  return {Dependence::Sliced, static_cast<unsigned>(at)};
}

static bool isSliced(Dependence dependence) {
  return dependence.kind == Dependence::Sliced;
}

/// Notes that the operation needs a slice of an operand without one row per position: the rows of
/// the chunk along its dimension number `at`.
void PositionChunks::markSliced(OpOperand &operand, unsigned at) {
  if (!isSliced(getDependence(operand.get())))
    sliced[&operand] = at;
}

/// Whether each index along the dimension is one position: not where a dimension was split, merged,
/// sliced or padded.
bool PositionChunks::hasAllPositions(Value value, unsigned at) const {
  return cast<NamedTensorType>(value.getType()).getDims()[at].getSize() == positions;
}

/// The name of the dimension of the rows of the first operand that has rows. A block may have
/// renamed the positions.
StringAttr PositionChunks::getNameOfRows(Operation *op) const {
  for (Value operand : op->getOperands())
    if (const Dependence rows = getDependence(operand); isSliced(rows))
      return cast<NamedTensorType>(operand.getType()).getDims()[rows.dim].getName();
  return nullptr;
}

/// The one factor of the rows of all operands but `except`; null if there is none or several.
const dist::Factor *PositionChunks::findFactor(Operation *op, const dist::ShardingRule &rule,
                                               ArrayRef<unsigned> except) const {
  const dist::Factor *found = nullptr;
  for (OpOperand &operand : op->getOpOperands()) {
    const unsigned i = operand.getOperandNumber();
    const Dependence rows = getDependence(operand.get());
    if (!isSliced(rows) || llvm::is_contained(except, i))
      continue;
    const auto here = llvm::find_if(rule.factors, [&](const dist::Factor &factor) {
      return factor.operandDims[i] == static_cast<int>(rows.dim);
    });
    if (here == rule.factors.end() || (found && found != &*here))
      return nullptr;
    found = &*here;
  }
  return found;
}

/// An operation whose operands have no rows. The operation creates one row per position if only its
/// results have the dimension: a constant, an iota, an expansion.
bool PositionChunks::visitWithoutRows(Operation *op, const dist::ShardingRule &rule) {
  auto isOfRows = [&](const dist::Factor &factor) {
    return factor.name == dim.getValue() &&
           llvm::all_of(factor.operandDims, [](int at) { return at < 0; });
  };
  const auto factor = llvm::find_if(rule.factors, isOfRows);
  if (factor == rule.factors.end())
    return true;
  if (!mayChunkAlong(op, *factor))
    return refuse(op, "depends on positions");
  for (auto [result, at] : llvm::zip_equal(op->getResults(), factor->resultDims))
    if (at >= 0)
      dependences[result] = rowsAlong(at);
  return true;
}

/// The operands `operands` are whole, in caches; the others and the results have one row per
/// position.
bool PositionChunks::visitCausal(Operation *op, ArrayRef<unsigned> operands) {
  dist::ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  const dist::Factor *factor = findFactor(op, rule, operands);
  if (!factor)
    return refuse(op, "does not have one row per position");
  causal.insert(op);
  for (unsigned i : operands)
    if (isSliced(getDependence(op->getOperand(i))))
      cached.insert(&op->getOpOperand(i));
  for (auto [result, at] : llvm::zip_equal(op->getResults(), factor->resultDims))
    dependences[result] = rowsAlong(at);
  return true;
}

bool PositionChunks::visit(Operation *op) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return visitRepeat(repeat);
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return refuse(op, "is not known by position");
  dist::ShardingRule rule = ruled.getShardingRule();
  if (llvm::none_of(op->getOperands(), [&](Value value) { return isSliced(getDependence(value)); }))
    return visitWithoutRows(op, rule);
  if (auto causalOp = dyn_cast<CausalOpInterface>(op))
    if (auto operands = causalOp.getCausalOperands(getNameOfRows(op)); !operands.empty())
      return visitCausal(op, operands);
  const dist::Factor *factor = findFactor(op, rule, {});
  if (!factor)
    return refuse(op, "relates positions to one another");
  for (OpOperand &operand : op->getOpOperands())
    if (int at = factor->operandDims[operand.getOperandNumber()]; at >= 0)
      markSliced(operand, static_cast<unsigned>(at));
  auto results = inferResults(op, [&](Value value) {
    for (OpOperand &operand : op->getOpOperands())
      if (auto it = sliced.find(&operand); operand.get() == value && it != sliced.end())
        return rowsAlong(it->second);
    return getDependence(value);
  });
  if (!results || !llvm::all_of(*results, isSliced) ||
      !llvm::all_of(llvm::zip_equal(op->getResults(), *results), [&](auto pair) {
        return hasAllPositions(std::get<0>(pair), std::get<1>(pair).dim);
      }))
    return refuse(op, "relates positions to one another");
  for (auto [result, rows] : llvm::zip_equal(op->getResults(), *results))
    dependences[result] = rows;
  return true;
}

/// Visits the bodies of a repeat once. Sets `changed` if an iteration argument got rows.
bool PositionChunks::visitBodies(RepeatOp repeat, bool &changed) {
  for (const RepeatVariant &body : repeat.getVariants()) {
    if (!visitBlock(body.getBlock()))
      return false;
    for (auto [i, argument] : llvm::enumerate(body.getIterArgs())) {
      const Dependence yielded = getDependence(body.getYieldedIterArgs()[i]),
                       rows = getDependence(argument);
      if (isSliced(yielded) && isSliced(rows) && yielded != rows)
        return refuse(repeat, "has rows along different dimensions");
      if (isSliced(rows))
        markSliced(body.getYield()->getOpOperand(i), rows.dim);
      if (!isSliced(yielded) || isSliced(rows))
        continue;
      for (const RepeatVariant &each : repeat.getVariants())
        dependences[each.getIterArgs()[i]] = yielded;
      markSliced(repeat->getOpOperand(i), yielded.dim);
      changed = true;
    }
  }
  return true;
}

bool PositionChunks::visitRepeat(RepeatOp repeat) {
  for (const RepeatVariant &body : repeat.getVariants()) {
    for (auto [init, argument] : llvm::zip_equal(repeat.getInits(), body.getIterArgs()))
      dependences[argument] = getDependence(init);
    for (auto [input, slot, number] : body.getScannedInputs())
      if (Dependence rows = getDependence(input); isSliced(rows)) {
        if (rows.dim == 0)
          return refuse(repeat, "iterates over positions");
        dependences[slot] = rowsAlong(rows.dim - 1);
      }
  }
  for (bool changed = true; changed;) {
    changed = false;
    if (!visitBodies(repeat, changed))
      return false;
  }
  for (const RepeatVariant &body : repeat.getVariants()) {
    for (auto [argument, result] : llvm::zip_equal(body.getIterArgs(), repeat.getIterResults()))
      dependences[result] = getDependence(argument);
    for (auto [value, output, operand] : body.getStackedOutputs())
      if (Dependence rows = getDependence(value); isSliced(rows))
        dependences[output] = rowsAlong(rows.dim + 1);
  }
  for (const RepeatVariant &body : repeat.getVariants())
    for (auto [value, output, operand] : body.getStackedOutputs())
      if (Dependence rows = getDependence(output); isSliced(rows))
        markSliced(body.getYield()->getOpOperand(operand), rows.dim - 1);
  return true;
}

bool PositionChunks::visitBlock(Block &block) {
  return llvm::all_of(block.without_terminator(), [&](Operation &op) { return visit(&op); });
}

FailureOr<PositionChunks> PositionChunks::find(func::FuncOp function, StringAttr dim,
                                               Obstacle &obstacle) {
  PositionChunks chunks(dim);
  for (BlockArgument argument : function.getArguments()) {
    const int64_t at = cast<NamedTensorType>(argument.getType()).findDimIndex(dim);
    if (at < 0 || !function.getArgAttr(argument.getArgNumber(), attr::kInput))
      continue;
    chunks.dependences[argument] = rowsAlong(at);
    chunks.positions = cast<NamedTensorType>(argument.getType()).getDims()[at].getSize();
  }
  Block &body = function.getBody().front();
  bool hasRows = chunks.visitBlock(body);
  for (Value result : body.getTerminator()->getOperands())
    if (hasRows && !isSliced(chunks.getDependence(result)))
      hasRows = chunks.refuse(body.getTerminator(), "returns a value without one row per position");
  obstacle = chunks.obstacle;
  if (!hasRows)
    return failure();
  return chunks;
}
