// The factor of an operation that an axis shards, and what decides between several.

#include "Rules.h"
#include "gtest/gtest.h"

using namespace titan::dist;
using namespace titan::dist::test;

namespace {

AxisInfo getAxis(std::vector<std::string> preference = {}) {
  return {"a", 2, std::move(preference)};
}

/// A reduction factor that the axis shards in both operands makes a partial sum.
TEST(AxisAssignment, SplitsAReductionThatAllOperandsSplit) {
  Assignment got =
      assignAxis(getMatmulRule(), {{1, 0}, {kReplicated}}, getMatmulSizes(), getAxis(), {1, 1, 1});
  EXPECT_EQ(got.kind, Assignment::Split);
  EXPECT_EQ(got.factor, 1);
}

/// One sharded operand does not make a partial sum; the sharding of the result decides.
TEST(AxisAssignment, FollowsTheShardingOfTheResult) {
  Assignment got =
      assignAxis(getMatmulRule(), {{1, kReplicated}, {1}}, getMatmulSizes(), getAxis(), {1, 1, 1});
  EXPECT_EQ(got.kind, Assignment::Split);
  EXPECT_EQ(got.factor, 2);
}

/// Without a common reduction factor and a sharded result, the operation is replicated.
TEST(AxisAssignment, ReplicatesByDefault) {
  EXPECT_EQ(assignAxis(getMatmulRule(), {{1, kReplicated}, {kReplicated}}, getMatmulSizes(),
                       getAxis(), {1, 1, 1})
                .kind,
            Assignment::Replicate);
}

/// A sum over many positions, which the axis shards in one operand, with a small result: the other
/// operand moves to the positions. With a result as large as the operands, they are gathered.
TEST(AxisAssignment, SplitsASumOfOneOperandIfTheResultIsSmall) {
  const AxisUse use{{1, kReplicated}, {kReplicated}};
  const ValueSizes small{{8 * 1600, 1600 * 4}, {8 * 4}, {true, true}};
  Assignment got = assignAxis(getMatmulRule(), use, small, getAxis(), {1, 1, 1});
  EXPECT_EQ(got.kind, Assignment::Split);
  EXPECT_EQ(got.factor, 1);
  // The other operand is sharded along another dimension: an all-to-all.
  EXPECT_EQ(
      assignAxis(getMatmulRule(), {{1, 1}, {kReplicated}}, small, getAxis(), {1, 1, 1}).factor, 1);
}

/// Between a reduction factor and a dimension of the result, the axis rules' first one wins.
TEST(AxisAssignment, FollowsTheOrderOfTheAxisRules) {
  AxisUse use{{1, 0}, {0}};
  EXPECT_EQ(assignAxis(getMatmulRule(), use, getMatmulSizes(), getAxis({"embed", "seq"}), {1, 1, 1})
                .factor,
            1);
  EXPECT_EQ(assignAxis(getMatmulRule(), use, getMatmulSizes(), getAxis({"seq", "embed"}), {1, 1, 1})
                .factor,
            0);
}

/// A renamed dimension takes the position of its origin in the preference.
TEST(AxisAssignment, PrefersByOrigin) {
  EXPECT_EQ(getPreference(getAxis({"embed", "seq"}), "keys", "seq"), 1u);
  EXPECT_EQ(getPreference(getAxis({"embed", "seq"}), "keys", ""), 2u);
}

/// A factor is not sharded further if the product of degrees does not divide it.
TEST(AxisAssignment, RespectsDivisibility) {
  EXPECT_EQ(
      assignAxis(getMatmulRule(), {{0, kReplicated}, {0}}, getMatmulSizes(), getAxis(), {8, 1, 1})
          .kind,
      Assignment::Replicate);
  EXPECT_FALSE(canSplit(1, 1, {"a", 0, {}}));
  EXPECT_TRUE(canSplit(3, 1, {"a", 0, {}}));
}

/// Partial sums are added before their reduction.
TEST(AxisAssignment, PassesJointlyLinearPartialSums) {
  ValueSizes sizes{{8, 8}, {8}, {true, true}};
  Assignment got =
      assignAxis(getAddRule(), {{kPartial, kPartial}, {kReplicated}}, sizes, getAxis(), {1});
  EXPECT_EQ(got.kind, Assignment::ForwardPartial);
  EXPECT_EQ(got.set, 0);
}

/// A replicated tensor is not added to partial sums; a scalar is, after make_partial.
TEST(AxisAssignment, JoinsScalarsOnly) {
  EXPECT_FALSE(
      findForwardingSet(getAddRule(), {{kPartial, kReplicated}, {0}}, {{8, 8}, {8}, {true, true}}));
  EXPECT_TRUE(
      findForwardingSet(getAddRule(), {{kPartial, kReplicated}, {0}}, {{8, 1}, {8}, {true, true}}));
}

/// A product of two partial sums is not a partial sum.
TEST(AxisAssignment, DoesNotMultiplyPartialSums) {
  EXPECT_FALSE(findForwardingSet(getMatmulRule(), {{kPartial, kPartial}, {kReplicated}},
                                 {{8, 8}, {8}, {true, true}}));
}

/// A partial sum is reduced before an operation that would enlarge it, or if it has other uses.
TEST(AxisAssignment, ForwardsOnlySmallSumsWithOneUse) {
  AxisUse use{{kPartial, kReplicated}, {kReplicated}};
  EXPECT_FALSE(findForwardingSet(getMatmulRule(), use, {{8, 8}, {64}, {true, true}}));
  EXPECT_FALSE(findForwardingSet(getMatmulRule(), use, {{8, 8}, {8}, {false, true}}));
  EXPECT_TRUE(findForwardingSet(getMatmulRule(), use, {{8, 8}, {8}, {true, true}}));
}

/// Elementwise operations work on flat storage if their result is stored flat.
TEST(AxisAssignment, WorksOnFlatStorage) {
  ValueSizes sizes{{8, 8}, {8}, {true, true}};
  EXPECT_EQ(assignAxis(getAddRule(), {{kFlat, kReplicated}, {kFlat}}, sizes, getAxis(), {1}).kind,
            Assignment::Flat);
  EXPECT_EQ(assignAxis(getAddRule(), {{kFlat, kFlat}, {kReplicated}}, sizes, getAxis(), {1}).kind,
            Assignment::Replicate);
}

/// A Replicated factor is never sharded.
TEST(AxisAssignment, NeverSplitsReplicatedFactors) {
  ShardingRule rule = getAddRule();
  rule.factors[0].kind = FactorKind::Replicated;
  EXPECT_EQ(assignAxis(rule, {{0, 0}, {0}}, {{8, 8}, {8}, {true, true}}, getAxis(), {1}).kind,
            Assignment::Replicate);
}

/// q[seq, heads], k[keys, heads] -> [seq, heads]
ShardingRule getAttentionRule() {
  ShardingRule rule{{{"seq", "", 8, FactorKind::Parallel, {0, -1}, {0}},
                     {"heads", "", 4, FactorKind::Parallel, {1, 1}, {1}},
                     {"seq", "", 8, FactorKind::Replicated, {-1, 0}, {-1}}}};
  rule.attention = AttentionFactors{0, 2, 1};
  return rule;
}

int assignPositions(AttentionSplit method, std::vector<int64_t> degrees) {
  AxisInfo axis = getAxis({"seq"});
  axis.attention = method;
  return assignAxis(getAttentionRule(), {{0, 0}, {0}}, {{32, 32}, {32}, {true, true}}, axis,
                    degrees)
      .factor;
}

/// By all-to-all, an axis shards the heads instead of positions, as far as the axes before it
/// allow.
TEST(AxisAssignment, MovesFromPositionsToHeads) {
  EXPECT_EQ(assignPositions(AttentionSplit::Queries, {1, 1, 1}), 0);
  EXPECT_EQ(assignPositions(AttentionSplit::QueriesAndKeys, {1, 1, 1}), 0);
  EXPECT_EQ(assignPositions(AttentionSplit::Heads, {1, 1, 1}), 1);
  EXPECT_EQ(assignPositions(AttentionSplit::Heads, {1, 2, 1}), 1);
  EXPECT_EQ(assignPositions(AttentionSplit::Heads, {1, 4, 1}), 0);
}

/// In a ring, the axis shards the positions of keys together with those of queries. For other
/// factors and methods there is no joint factor.
TEST(AxisAssignment, RingsShardKeysToo) {
  AxisInfo axis = getAxis();
  EXPECT_EQ(findJointFactor(getAttentionRule(), 0, axis), -1);
  axis.attention = AttentionSplit::QueriesAndKeys;
  EXPECT_EQ(findJointFactor(getAttentionRule(), 0, axis), 2);
  EXPECT_EQ(findJointFactor(getAttentionRule(), 1, axis), -1);
  EXPECT_EQ(findJointFactor(getMatmulRule(), 0, axis), -1);
}

} // namespace
