//===- NeuralRules.cpp - Sharding rules of the composites -----------------===//

#include "dialects/titan/ShardingRules/RuleBuilder.h"
#include "dialects/titan/ShardingRules/ShardingRules.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Positions may be split (each rank knows its own); the pairs within `dim` may not.
struct RotaryRule : ShardingRuleOpInterface::ExternalModel<RotaryRule, RotaryOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ShardingRule rule = buildRuleByName(op);
    forbidSplitting(rule, cast<RotaryOp>(op).getDim());
    rule.linearSets = {{0}};
    return rule;
  }
};

/// Every position meets every other, so `along` and `head` stay whole. A dimension of q that k and
/// v lack (the group) makes the cotangents of k and v partial sums.
template <typename Op>
struct AttentionRule : ShardingRuleOpInterface::ExternalModel<AttentionRule<Op>, Op> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ShardingRule rule = buildRuleByName(op);
    forbidSplitting(rule, cast<Op>(op).getAlong());
    forbidSplitting(rule, cast<Op>(op).getHead());
    if (isa<AttentionGradOp>(op))
      rule.linearSets = {{0}};
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
  });
}
