// Builds sharding rules from types.

#include "dialects/titan/ShardingRules/RuleBuilder.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

/// A factor without dimensions of operands and results.
static dist::Factor makeFactor(Operation *op, DimAttr dim, dist::FactorKind kind) {
  return {dim.getName().str(),
          dim.getOrigin() ? dim.getOrigin().str() : std::string(),
          dim.getSize(),
          kind,
          std::vector<int>(op->getNumOperands(), -1),
          std::vector<int>(op->getNumResults(), -1)};
}

dist::ShardingRule ir::buildRuleByName(Operation *op, dist::FactorKind reduction) {
  dist::ShardingRule rule;
  auto getOrAddFactor = [&](DimAttr dim) -> dist::Factor & {
    for (dist::Factor &factor : rule.factors)
      if (factor.name == dim.getName().getValue())
        return factor;
    return rule.factors.emplace_back(makeFactor(op, dim, dist::FactorKind::Parallel));
  };
  auto addDims = [&](ValueRange values, std::vector<int> dist::Factor::*dims) {
    for (auto [i, value] : llvm::enumerate(values))
      for (auto [at, dim] : llvm::enumerate(cast<NamedTensorType>(value.getType()).getDims()))
        (getOrAddFactor(dim).*dims)[i] = static_cast<int>(at);
  };
  addDims(op->getOperands(), &dist::Factor::operandDims);
  addDims(op->getResults(), &dist::Factor::resultDims);
  auto absent = [](int dim) { return dim < 0; };
  for (dist::Factor &factor : rule.factors)
    if (llvm::any_of(factor.resultDims, absent) && !llvm::all_of(factor.operandDims, absent))
      factor.kind = reduction;
    else
      factor.padding = dist::Padding::Isolated;
  return rule;
}

dist::ShardingRule ir::buildRuleByPosition(Operation *op,
                                           ArrayRef<std::pair<int64_t, int64_t>> pairs) {
  dist::ShardingRule rule;
  auto input = cast<NamedTensorType>(op->getOperand(0).getType());
  auto result = cast<NamedTensorType>(op->getResult(0).getType());
  for (auto [from, to] : pairs) {
    dist::Factor factor = makeFactor(op, input.getDims()[from], dist::FactorKind::Parallel);
    if (factor.size == result.getDims()[to].getSize())
      factor.padding = dist::Padding::Isolated;
    factor.size = std::min(factor.size, result.getDims()[to].getSize());
    factor.operandDims[0] = static_cast<int>(from);
    factor.resultDims[0] = static_cast<int>(to);
    rule.factors.push_back(factor);
  }
  for (auto [i, dim] : llvm::enumerate(input.getDims()))
    if (llvm::none_of(pairs, [&](auto pair) { return pair.first == static_cast<int64_t>(i); }))
      rule.factors.emplace_back(makeFactor(op, dim, dist::FactorKind::Replicated)).operandDims[0] =
          static_cast<int>(i);
  for (auto [i, dim] : llvm::enumerate(result.getDims()))
    if (llvm::none_of(pairs, [&](auto pair) { return pair.second == static_cast<int64_t>(i); }))
      rule.factors.emplace_back(makeFactor(op, dim, dist::FactorKind::Replicated)).resultDims[0] =
          static_cast<int>(i);
  rule.linearSets = {{0}};
  return rule;
}

void ir::forbidSharding(dist::ShardingRule &rule, StringRef name) {
  for (dist::Factor &factor : rule.factors)
    if (factor.name == name) {
      factor.kind = dist::FactorKind::Replicated;
      factor.padding = dist::Padding::Forbidden;
    }
}

void ir::markPositional(dist::ShardingRule &rule, StringRef name) {
  for (dist::Factor &factor : rule.factors)
    factor.isPositional |= factor.name == name;
}

void ir::allowReductionPadding(dist::ShardingRule &rule) {
  for (dist::Factor &factor : rule.factors)
    if (factor.kind != dist::FactorKind::Parallel && factor.kind != dist::FactorKind::Replicated)
      factor.padding = dist::Padding::Reduced;
}
