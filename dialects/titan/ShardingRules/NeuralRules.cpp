//===- NeuralRules.cpp - Sharding rules of attention and rotary -----------===//

#include "dialects/titan/ShardingRules/RuleBuilder.h"
#include "dialects/titan/ShardingRules/ShardingRules.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Positions may be sharded, since each rank knows its shard offset. The pairs within `dim` may
/// not.
struct RotaryRule : ShardingRuleOpInterface::ExternalModel<RotaryRule, RotaryOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ShardingRule rule = buildRuleByName(op);
    forbidSplitting(rule, cast<RotaryOp>(op).getDim());
    markPositional(rule, cast<RotaryOp>(op).getAlong());
    rule.linearSets = {{0}};
    return rule;
  }
};

/// Each query reads all keys, so the positions of keys and both head dimensions must not be
/// sharded. The positions of queries may be. The cotangents of k and v are then partial sums, and
/// also if a dimension of q alone (the group) is sharded.
template <typename Op>
struct AttentionRule : ShardingRuleOpInterface::ExternalModel<AttentionRule<Op>, Op> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    auto attention = cast<Op>(op);
    dist::ShardingRule rule = buildRuleByName(op);
    forbidSplitting(rule, attention.getHead());
    forbidSplitting(rule, attention.getValueHead().getName());
    StringAttr along = attention.getAlongAttr();
    auto positions = llvm::find_if(
        rule.factors, [&](const dist::Factor &factor) { return factor.name == along; });
    positions->isPositional =
        attention.getCausal() || attention.getWindow() || attention.getDocuments();
    dist::Factor keys = *positions;
    keys.kind = dist::FactorKind::Replicated;
    keys.padding = positions->padding = dist::Padding::Forbidden;
    unsigned key = attention.getKeyMutable().getOperandNumber();
    unsigned documents = attention.getDocuments() ? op->getNumOperands() - 1 : key;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      (i == key || i == key + 1 || i == documents ? *positions : keys).operandDims[i] = -1;
    std::fill(keys.resultDims.begin(), keys.resultDims.end(), -1);
    if (auto grad = dyn_cast<AttentionGradOp>(op)) {
      reducePadding(rule);
      positions->kind = dist::FactorKind::Sum;
      for (unsigned i : {1, 2}) // dk, dv
        std::swap(positions->resultDims[i], keys.resultDims[i]);
      rule.linearSets = {{0}};
      if (grad.getLseCotangent())
        rule.linearSets[0].push_back(6);
    }
    rule.factors.push_back(keys);
    return rule;
  }
};

} // namespace

void ir::attachNeuralShardingRules(MLIRContext &context) {
  RotaryOp::attachInterface<RotaryRule>(context);
  AttentionOp::attachInterface<AttentionRule<AttentionOp>>(context);
  AttentionGradOp::attachInterface<AttentionRule<AttentionGradOp>>(context);
}

void ir::registerShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TitanDialect *) {
    attachElementwiseShardingRules(*context);
    attachTensorShardingRules(*context);
    attachNeuralShardingRules(*context);
    attachPositionModels(*context);
  });
}
