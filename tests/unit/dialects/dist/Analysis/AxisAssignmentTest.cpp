//===- AxisAssignmentTest.cpp - What an axis does to one operation --------===//

#include "Rules.h"
#include "gtest/gtest.h"

using namespace titan::dist;
using namespace titan::dist::test;

namespace {

AxisInfo getAxis(std::vector<std::string> preference = {}) {
  return {"a", 2, std::move(preference)};
}

/// A dimension that its axis splits in both operands is summed in parts.
TEST(AxisAssignment, SplitsAReductionThatAllOperandsSplit) {
  Assignment got =
      assignAxis(getMatmulRule(), {{1, 0}, {kReplicated}}, getMatmulSizes(), getAxis(), {1, 1, 1});
  EXPECT_EQ(got.kind, Assignment::Split);
  EXPECT_EQ(got.factor, 1);
}

/// One operand alone does not make a partial sum; the result's split decides.
TEST(AxisAssignment, SplitsWhatTheResultSplits) {
  Assignment got =
      assignAxis(getMatmulRule(), {{1, kReplicated}, {1}}, getMatmulSizes(), getAxis(), {1, 1, 1});
  EXPECT_EQ(got.kind, Assignment::Split);
  EXPECT_EQ(got.factor, 2);
}

/// With neither, operands are made whole.
TEST(AxisAssignment, SplitsNothingOtherwise) {
  EXPECT_EQ(assignAxis(getMatmulRule(), {{1, kReplicated}, {kReplicated}}, getMatmulSizes(),
                       getAxis(), {1, 1, 1})
                .kind,
            Assignment::Replicate);
}

/// Between a reduction and the result's dimension, the one that the map lists first wins.
TEST(AxisAssignment, FollowsTheMapsOrder) {
  AxisUse use{{1, 0}, {0}};
  EXPECT_EQ(assignAxis(getMatmulRule(), use, getMatmulSizes(), getAxis({"embed", "seq"}), {1, 1, 1})
                .factor,
            1);
  EXPECT_EQ(assignAxis(getMatmulRule(), use, getMatmulSizes(), getAxis({"seq", "embed"}), {1, 1, 1})
                .factor,
            0);
}

/// A renamed dimension stands where its origin is listed.
TEST(AxisAssignment, PrefersByOrigin) {
  EXPECT_EQ(getPreference(getAxis({"embed", "seq"}), "keys", "seq"), 1u);
  EXPECT_EQ(getPreference(getAxis({"embed", "seq"}), "keys", ""), 2u);
}

/// A factor that other axes have cut so far that this one does not divide the rest stays as it is.
TEST(AxisAssignment, RespectsDivisibility) {
  EXPECT_EQ(
      assignAxis(getMatmulRule(), {{0, kReplicated}, {0}}, getMatmulSizes(), getAxis(), {8, 1, 1})
          .kind,
      Assignment::Replicate);
  EXPECT_FALSE(canSplit(1, 1, {"a", 0, {}}));
  EXPECT_TRUE(canSplit(3, 1, {"a", 0, {}}));
}

/// Two partial sums are added before they are reduced.
TEST(AxisAssignment, PassesJointlyLinearPartialSums) {
  ValueSizes sizes{{8, 8}, {8}, {true, true}};
  Assignment got =
      assignAxis(getAddRule(), {{kPartial, kPartial}, {kReplicated}}, sizes, getAxis(), {1});
  EXPECT_EQ(got.kind, Assignment::ForwardPartial);
  EXPECT_EQ(got.set, 0);
}

/// A replicated tensor must not be added to every rank's partial sum; a scalar may join as one.
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

/// A partial sum is reduced before an operation that would make it larger, or if others use it.
TEST(AxisAssignment, PassesOnlyWhatStaysSmallAndAlone) {
  AxisUse use{{kPartial, kReplicated}, {kReplicated}};
  EXPECT_FALSE(findForwardingSet(getMatmulRule(), use, {{8, 8}, {64}, {true, true}}));
  EXPECT_FALSE(findForwardingSet(getMatmulRule(), use, {{8, 8}, {8}, {false, true}}));
  EXPECT_TRUE(findForwardingSet(getMatmulRule(), use, {{8, 8}, {8}, {true, true}}));
}

/// Elementwise operations work on flat storage where the result is stored so.
TEST(AxisAssignment, WorksOnFlatStorage) {
  ValueSizes sizes{{8, 8}, {8}, {true, true}};
  EXPECT_EQ(assignAxis(getAddRule(), {{kFlat, kReplicated}, {kFlat}}, sizes, getAxis(), {1}).kind,
            Assignment::Flat);
  EXPECT_EQ(assignAxis(getAddRule(), {{kFlat, kFlat}, {kReplicated}}, sizes, getAxis(), {1}).kind,
            Assignment::Replicate);
}

/// What must not be split is not, whatever the result wants.
TEST(AxisAssignment, NeverSplitsReplicatedFactors) {
  ShardingRule rule = getAddRule();
  rule.factors[0].kind = FactorKind::Replicated;
  EXPECT_EQ(assignAxis(rule, {{0, 0}, {0}}, {{8, 8}, {8}, {true, true}}, getAxis(), {1}).kind,
            Assignment::Replicate);
}

} // namespace
