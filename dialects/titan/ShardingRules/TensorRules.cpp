//===- TensorRules.cpp - Sharding rules of contraction, indexing and the like ===//

#include "dialects/titan/ShardingRules/RuleBuilder.h"
#include "dialects/titan/ShardingRules/ShardingRules.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

using Pairs = SmallVector<std::pair<int64_t, int64_t>>;

/// Positions 0..rank-1 of operand and result, one to one.
Pairs pairAll(int64_t rank) {
  return llvm::map_to_vector(llvm::seq<int64_t>(0, rank),
                             [](int64_t i) { return std::pair(i, i); });
}

/// Positions of a tensor and of the one that has dimension `at` replaced by `numFineDims`
/// dimensions: what splits the whole dimension splits its outermost part.
Pairs pairRefined(int64_t coarseRank, int64_t at, int64_t numFineDims, bool coarseFirst) {
  Pairs pairs;
  for (int64_t i = 0; i < coarseRank; ++i) {
    int64_t fine = i <= at ? i : i + numFineDims - 1;
    pairs.push_back(coarseFirst ? std::pair(i, fine) : std::pair(fine, i));
  }
  return pairs;
}

/// Operations that keep every position: the identity under other names or other promises.
template <typename Op>
struct IdentityRule : ShardingRuleOpInterface::ExternalModel<IdentityRule<Op>, Op> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ShardingRule rule =
        buildRuleByPosition(op, pairAll(cast<Op>(op).getInput().getType().getRank()));
    rule.isElementwise = !isa<RenameOp>(op);
    return rule;
  }
};

/// Every rank checks its indices. Those in padding are none.
struct CheckIndexRule : ShardingRuleOpInterface::ExternalModel<CheckIndexRule, CheckIndexOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ShardingRule rule =
        buildRuleByPosition(op, pairAll(cast<CheckIndexOp>(op).getInput().getType().getRank()));
    rule.linearSets.clear();
    for (dist::Factor &factor : rule.factors)
      factor.padding = dist::Padding::Forbidden;
    return rule;
  }
};

/// What sums join would be added by every rank that makes a part of them: what they go over stays
/// whole, and nothing is padded.
static void forbidShardedTerms(dist::ShardingRule &rule, NamedTensorType result, ValueRange terms) {
  for (dist::Factor &factor : rule.factors)
    factor.padding = dist::Padding::Forbidden;
  for (Value term : terms)
    for (DimAttr dim : cast<NamedTensorType>(term.getType()).getDims())
      if (!result.hasDim(dim.getName()))
        forbidSplitting(rule, dim.getName());
}

struct ContractRule : ShardingRuleOpInterface::ExternalModel<ContractRule, ContractOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    auto contract = cast<ContractOp>(op);
    dist::ShardingRule rule = buildRuleByName(op);
    rule.linearSets = {{0}, {1}};
    reducePadding(rule);
    if (contract.getInto()) {
      rule.linearSets = {{0, 2}, {1, 2}};
      forbidShardedTerms(rule, contract.getResult().getType(), contract.getLhs());
      return rule;
    }
    rule.contractsFlat =
        contract.getResult().getType().getRank() == 0 &&
        contract.getLhs().getType().getDims() == contract.getRhs().getType().getDims();
    return rule;
  }
};

struct ReduceRule : ShardingRuleOpInterface::ExternalModel<ReduceRule, ReduceOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ReductionKind kind = cast<ReduceOp>(op).getKind();
    dist::ShardingRule rule = buildRuleByName(op, getFactorKind(kind));
    if (kind == dist::ReductionKind::Sum)
      rule.linearSets = {{0}};
    // Integers have no infinity that would leave a maximum as it is.
    Type element = cast<ReduceOp>(op).getInput().getType().getElementType();
    if (kind == dist::ReductionKind::Sum || isa<FloatType>(element))
      reducePadding(rule);
    return rule;
  }

private:
  static dist::FactorKind getFactorKind(dist::ReductionKind kind) {
    switch (kind) {
    case dist::ReductionKind::Max:
      return dist::FactorKind::Max;
    case dist::ReductionKind::Min:
      return dist::FactorKind::Min;
    case dist::ReductionKind::Sum:
      return dist::FactorKind::Sum;
    }
    llvm_unreachable("every kind is handled");
  }
};

/// Take and put: by name; `along` of take is a sum (other ranks hold 0), that of put is a
/// dimension of the result alone; both are linear in their data. No index points into padding, so
/// take never reads it and put leaves zeros there; but a padded index may be any number.
template <typename Op>
struct IndexingRule : ShardingRuleOpInterface::ExternalModel<IndexingRule<Op>, Op> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ShardingRule rule = buildRuleByName(op);
    rule.linearSets = {{0}};
    markPositional(rule, cast<Op>(op).getAlong());
    unsigned indices = cast<Op>(op).getIndicesMutable().getOperandNumber();
    for (dist::Factor &factor : rule.factors)
      if (factor.operandDims[indices] >= 0)
        factor.padding = dist::Padding::Forbidden;
      else if (factor.name == cast<Op>(op).getAlong())
        factor.padding = isa<GatherOp>(op) ? dist::Padding::Isolated : dist::Padding::Zeroed;
    if (auto scatter = dyn_cast<ScatterOp>(op); scatter && scatter.getInto()) {
      rule.linearSets = {{0, 2}};
      forbidShardedTerms(rule, scatter.getResult().getType(),
                         {scatter.getUpdates(), scatter.getIndices()});
    }
    return rule;
  }
};

struct SplitRule : ShardingRuleOpInterface::ExternalModel<SplitRule, SplitOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    auto split = cast<SplitOp>(op);
    NamedTensorType coarse = split.getInput().getType();
    int64_t numFineDims = split.getResult().getType().getRank() - coarse.getRank() + 1;
    return buildRuleByPosition(
        op, pairRefined(coarse.getRank(), coarse.indexOf(split.getDimAttr()), numFineDims, true));
  }
};

struct MergeRule : ShardingRuleOpInterface::ExternalModel<MergeRule, MergeOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    auto merge = cast<MergeOp>(op);
    NamedTensorType coarse = merge.getResult().getType();
    int64_t numFineDims = merge.getInput().getType().getRank() - coarse.getRank() + 1;
    return buildRuleByPosition(
        op, pairRefined(coarse.getRank(), coarse.indexOf(merge.getDimAttr()), numFineDims, false));
  }
};

/// Slice and pad: the dimension that changes its range is not split.
template <typename Op>
struct RangeRule : ShardingRuleOpInterface::ExternalModel<RangeRule<Op>, Op> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    auto range = cast<Op>(op);
    NamedTensorType named =
        isa<SliceOp>(op) ? range.getInput().getType() : range.getResult().getType();
    Pairs pairs = pairAll(named.getRank());
    pairs.erase(pairs.begin() + named.indexOf(range.getDimAttr()));
    return buildRuleByPosition(op, pairs);
  }
};

/// What depends on the order along a dimension needs it whole.
template <typename Op>
struct OrderRule : ShardingRuleOpInterface::ExternalModel<OrderRule<Op>, Op> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ShardingRule rule = buildRuleByName(op);
    forbidSplitting(rule, cast<Op>(op).getAlong());
    if (auto topK = dyn_cast<TopKOp>(op)) {
      NamedTensorType input = topK.getInput().getType(), values = topK.getValues().getType();
      forbidSplitting(rule, values.getDims()[input.indexOf(topK.getAlongAttr())].getName());
    } else {
      rule.linearSets = {{0}};
    }
    return rule;
  }
};

} // namespace

void ir::attachTensorShardingRules(MLIRContext &context) {
  ShardingConstraintOp::attachInterface<IdentityRule<ShardingConstraintOp>>(context);
  StopGradientOp::attachInterface<IdentityRule<StopGradientOp>>(context);
  ContractOp::attachInterface<ContractRule>(context);
  ReduceOp::attachInterface<ReduceRule>(context);
  CheckIndexOp::attachInterface<CheckIndexRule>(context);
  GatherOp::attachInterface<IndexingRule<GatherOp>>(context);
  ScatterOp::attachInterface<IndexingRule<ScatterOp>>(context);
  RenameOp::attachInterface<IdentityRule<RenameOp>>(context);
  SplitOp::attachInterface<SplitRule>(context);
  MergeOp::attachInterface<MergeRule>(context);
  SliceOp::attachInterface<RangeRule<SliceOp>>(context);
  PadOp::attachInterface<RangeRule<PadOp>>(context);
  TopKOp::attachInterface<OrderRule<TopKOp>>(context);
  CumulativeSumOp::attachInterface<OrderRule<CumulativeSumOp>>(context);
}
