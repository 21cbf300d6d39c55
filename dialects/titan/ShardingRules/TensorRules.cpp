// Sharding rules of contractions, indexing, reshaping.

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

/// Positions of a tensor and of one with `numFineDims` dimensions instead of dimension `at`.
/// Sharding that dimension shards the outermost of the finer ones.
Pairs pairRefined(int64_t coarseRank, int64_t at, int64_t numFineDims, bool coarseFirst) {
  Pairs pairs;
  for (int64_t i = 0; i < coarseRank; ++i) {
    int64_t fine = i <= at ? i : i + numFineDims - 1;
    pairs.push_back(coarseFirst ? std::pair(i, fine) : std::pair(fine, i));
  }
  return pairs;
}

/// Operations that keep every position and value.
template <typename Op>
struct IdentityRule : ShardingRuleOpInterface::ExternalModel<IdentityRule<Op>, Op> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ShardingRule rule =
        buildRuleByPosition(op, pairAll(cast<Op>(op).getInput().getType().getRank()));
    rule.isElementwise = !isa<RenameOp>(op);
    return rule;
  }
};

/// Each rank checks its own indices. Indices in padding are invalid, so padding is forbidden.
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

/// For operations that accumulate into a tensor. If a reduction factor were sharded, every rank
/// would add that tensor. Reduction factors are therefore Replicated, and padding is forbidden.
static void forbidShardedTerms(dist::ShardingRule &rule, NamedTensorType result, ValueRange terms) {
  for (dist::Factor &factor : rule.factors)
    factor.padding = dist::Padding::Forbidden;
  for (Value term : terms)
    for (DimAttr dim : cast<NamedTensorType>(term.getType()).getDims())
      if (!result.hasDim(dim.getName()))
        forbidSharding(rule, dim.getName());
}

struct ContractRule : ShardingRuleOpInterface::ExternalModel<ContractRule, ContractOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    auto contract = cast<ContractOp>(op);
    dist::ShardingRule rule = buildRuleByName(op);
    rule.linearSets = {{0}, {1}};
    allowReductionPadding(rule);
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

/// Factors by dimension name. `along` is a Sum factor if the table is an operand (other ranks
/// hold 0), else a dimension of the result only. Indices select no padding, and padded indices
/// would be arbitrary numbers.
struct GroupedContractRule
    : ShardingRuleOpInterface::ExternalModel<GroupedContractRule, GroupedContractOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    auto grouped = cast<GroupedContractOp>(op);
    dist::ShardingRule rule = buildRuleByName(op);
    rule.linearSets = {{0}, {1}};
    allowReductionPadding(rule);
    markPositional(rule, grouped.getAlong());
    bool isOfOperand = grouped.getTable() == grouped.getRhs();
    for (dist::Factor &factor : rule.factors)
      if (factor.operandDims[2] >= 0)
        factor.padding = dist::Padding::Forbidden;
      else if (factor.name == grouped.getAlong())
        factor.padding = isOfOperand ? dist::Padding::Isolated : dist::Padding::Zeroed;
    if (grouped.getInto()) {
      rule.linearSets = {{0, 3}, {1, 3}};
      forbidShardedTerms(rule, grouped.getResult().getType(),
                         {grouped.getLhs(), grouped.getRhs(), grouped.getIndices()});
    }
    return rule;
  }
};

struct ReduceRule : ShardingRuleOpInterface::ExternalModel<ReduceRule, ReduceOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ReductionKind kind = cast<ReduceOp>(op).getKind();
    dist::ShardingRule rule = buildRuleByName(op, getFactorKind(kind));
    if (kind == dist::ReductionKind::Sum)
      rule.linearSets = {{0}};
    // Integers have no identity of max and min.
    Type element = cast<ReduceOp>(op).getInput().getType().getElementType();
    if (kind == dist::ReductionKind::Sum || isa<FloatType>(element))
      allowReductionPadding(rule);
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

/// Gather and scatter, by dimension name; both are linear in operand 0. `along` of a gather is a
/// Sum factor (other ranks hold 0); `along` of a scatter is a dimension of the result only. No
/// index points into padding: a gather never reads it, and a scatter leaves it 0. Padded indices
/// would be arbitrary numbers, so they are forbidden.
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
        op,
        pairRefined(coarse.getRank(), coarse.findDimIndex(split.getDimAttr()), numFineDims, true));
  }
};

struct MergeRule : ShardingRuleOpInterface::ExternalModel<MergeRule, MergeOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    auto merge = cast<MergeOp>(op);
    NamedTensorType coarse = merge.getResult().getType();
    int64_t numFineDims = merge.getInput().getType().getRank() - coarse.getRank() + 1;
    return buildRuleByPosition(
        op,
        pairRefined(coarse.getRank(), coarse.findDimIndex(merge.getDimAttr()), numFineDims, false));
  }
};

/// Slice and pad: the dimension with another range is not sharded.
template <typename Op>
struct RangeRule : ShardingRuleOpInterface::ExternalModel<RangeRule<Op>, Op> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    auto range = cast<Op>(op);
    NamedTensorType whole =
        isa<SliceOp>(op) ? range.getInput().getType() : range.getResult().getType();
    Pairs pairs = pairAll(whole.getRank());
    pairs.erase(pairs.begin() + whole.findDimIndex(range.getDimAttr()));
    return buildRuleByPosition(op, pairs);
  }
};

/// `into` and the result may be sharded along the dimension: a rank replaces the elements of the
/// range that it has. The operand is not sharded along it.
struct InsertSliceRule : ShardingRuleOpInterface::ExternalModel<InsertSliceRule, InsertSliceOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    auto insert = cast<InsertSliceOp>(op);
    dist::ShardingRule rule = buildRuleByName(op);
    rule.linearSets = {{0, 1}};
    auto whole = llvm::find_if(
        rule.factors, [&](const dist::Factor &factor) { return factor.name == insert.getDim(); });
    dist::Factor range = *whole;
    whole->padding = range.padding = dist::Padding::Forbidden;
    whole->isPositional = true;
    whole->size = insert.getResult().getType().getDims()[whole->resultDims[0]].getSize();
    whole->operandDims[0] = -1;
    range.kind = dist::FactorKind::Replicated;
    range.operandDims[1] = range.resultDims[0] = -1;
    rule.factors.push_back(range);
    return rule;
  }
};

/// Operations that depend on the order along a dimension, which is not sharded.
template <typename Op>
struct OrderRule : ShardingRuleOpInterface::ExternalModel<OrderRule<Op>, Op> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ShardingRule rule = buildRuleByName(op);
    forbidSharding(rule, cast<Op>(op).getAlong());
    if (auto topK = dyn_cast<TopKOp>(op)) {
      NamedTensorType input = topK.getInput().getType(), values = topK.getValues().getType();
      forbidSharding(rule, values.getDims()[input.findDimIndex(topK.getAlongAttr())].getName());
    } else {
      rule.linearSets = {{0}};
    }
    return rule;
  }
};

/// The counted dimensions are not sharded, so that a rank counts all preceding elements. Indices in
/// padding are out of range or arbitrary, and no result in the data depends on them.
struct CumulativeCountRule
    : ShardingRuleOpInterface::ExternalModel<CumulativeCountRule, CumulativeCountOp> {
  dist::ShardingRule getShardingRule(Operation *op) const {
    dist::ShardingRule rule = buildRuleByName(op);
    for (auto dim : cast<CumulativeCountOp>(op).getOver().getAsRange<StringAttr>())
      forbidSharding(rule, dim);
    return rule;
  }
};

} // namespace

void ir::attachTensorShardingRules(MLIRContext &context) {
  ShardingConstraintOp::attachInterface<IdentityRule<ShardingConstraintOp>>(context);
  StopGradientOp::attachInterface<IdentityRule<StopGradientOp>>(context);
  ContractOp::attachInterface<ContractRule>(context);
  GroupedContractOp::attachInterface<GroupedContractRule>(context);
  ReduceOp::attachInterface<ReduceRule>(context);
  CheckIndexOp::attachInterface<CheckIndexRule>(context);
  GatherOp::attachInterface<IndexingRule<GatherOp>>(context);
  ScatterOp::attachInterface<IndexingRule<ScatterOp>>(context);
  RenameOp::attachInterface<IdentityRule<RenameOp>>(context);
  SplitOp::attachInterface<SplitRule>(context);
  MergeOp::attachInterface<MergeRule>(context);
  SliceOp::attachInterface<RangeRule<SliceOp>>(context);
  PadOp::attachInterface<RangeRule<PadOp>>(context);
  InsertSliceOp::attachInterface<InsertSliceRule>(context);
  TopKOp::attachInterface<OrderRule<TopKOp>>(context);
  CumulativeSumOp::attachInterface<OrderRule<CumulativeSumOp>>(context);
  CumulativeCountOp::attachInterface<CumulativeCountRule>(context);
}
