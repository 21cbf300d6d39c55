// Sharding rules of attention and rotary, and the registration of all rules.

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
    forbidSharding(rule, cast<RotaryOp>(op).getDim());
    markPositional(rule, cast<RotaryOp>(op).getAlong());
    rule.linearSets = {{0}};
    return rule;
  }
};

/// Each query reads all keys, so both head dimensions and the positions of keys and documents must
/// not be sharded, except those of keys in a ring. The positions of queries may be. The cotangents
/// of k and v are then partial sums, and also if a dimension of q alone (the group) is sharded.
template <typename Op>
struct AttentionRule : ShardingRuleOpInterface::ExternalModel<AttentionRule<Op>, Op> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    auto attention = cast<Op>(op);
    dist::ShardingRule rule = buildRuleByName(op);
    forbidSharding(rule, attention.getHead());
    forbidSharding(rule, attention.getValueHead().getName());
    StringAttr along = attention.getAlongAttr();
    auto positions = llvm::find_if(
        rule.factors, [&](const dist::Factor &factor) { return factor.name == along; });
    positions->isPositional =
        attention.getCausal() || attention.getWindow() || attention.getDocuments();
    const unsigned key = attention.getKeyMutable().getOperandNumber();
    dist::Factor keys = *positions;
    keys.kind = dist::FactorKind::Replicated;
    keys.padding = positions->padding = dist::Padding::Forbidden;
    // A chunk of queries (`from`) has fewer positions than the keys.
    keys.size = attention.getKey().getType().getDims()[keys.operandDims[key]].getSize();
    dist::Factor documents = keys;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      const bool isKey = i == key || i == key + 1;
      const bool isDocuments =
          attention.getDocuments() && op->getOperand(i) == attention.getDocuments();
      keys.operandDims[i] = isKey ? keys.operandDims[i] : -1;
      documents.operandDims[i] = isDocuments ? documents.operandDims[i] : -1;
      positions->operandDims[i] = isKey || isDocuments ? -1 : positions->operandDims[i];
    }
    std::fill(keys.resultDims.begin(), keys.resultDims.end(), -1);
    documents.resultDims = keys.resultDims;
    if (auto grad = dyn_cast<AttentionGradOp>(op)) {
      allowReductionPadding(rule);
      positions->kind = dist::FactorKind::Sum;
      for (unsigned i : {1, 2}) // dk, dv
        std::swap(positions->resultDims[i], keys.resultDims[i]);
      rule.linearSets = {{0}};
      if (grad.getLseCotangent())
        rule.linearSets[0].push_back(6);
    }
    const int queries = static_cast<int>(positions - rule.factors.begin());
    rule.attention = {queries, static_cast<int>(rule.factors.size()), findHeads(attention, rule)};
    rule.factors.push_back(keys);
    if (attention.getDocuments())
      rule.factors.push_back(documents);
    return rule;
  }

private:
  /// The factor of the innermost dimension of k besides positions and `head`.
  static int findHeads(Op attention, const dist::ShardingRule &rule) {
    for (DimAttr dim : llvm::reverse(attention.getKey().getType().getDims()))
      if (dim.getName() != attention.getAlongAttr() && dim.getName() != attention.getHeadAttr())
        return static_cast<int>(llvm::find_if(rule.factors,
                                              [&](const dist::Factor &f) {
                                                return f.name == dim.getName().getValue();
                                              }) -
                                rule.factors.begin());
    return -1;
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
