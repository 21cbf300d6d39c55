//===- ConflictsTest.cpp - Where shardings ask for different splits -------===//

#include "dialects/dist/Analysis/Conflicts.h"
#include "Rules.h"
#include "gmock/gmock.h"

using namespace titan::dist;
using namespace titan::dist::test;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

/// Fixed where it has a place.
FactorTensor makePlaced(std::vector<FactorDim> dims, int place) {
  return {std::move(dims), {place}, 0, place != kReplicated};
}

/// x2 = x[seq, embed] + x, and y[seq, ffn] = x2 w[embed, ffn]: the split of x reaches the product
/// by way of x2.
FactorGraph getMatmulOfSum(int x, int w, std::vector<std::string> preference) {
  ShardingRule add = getAddRule();
  add.factors.push_back({"embed", "", 16, FactorKind::Parallel, {1, 1}, {1}});
  FactorGraph graph{{{"a", 2, std::move(preference)}},
                    {makePlaced({kSeq, kEmbed}, x), makePlaced({kEmbed, kFfn}, w),
                     makePlaced({kSeq, kEmbed}, kReplicated),
                     makePlaced({kSeq, kFfn}, kReplicated)},
                    {{add, {0, 0}, {2}}, {getMatmulRule(), {2, 1}, {3}}}};
  propagateFactors(graph);
  return graph;
}

/// A split that came by way of another value is of the declared tensor that it started from.
TEST(Conflicts, HaveBothOrigins) {
  std::vector<Conflict> conflicts = findConflicts(getMatmulOfSum(0, 1, {"ffn", "seq"}));
  ASSERT_THAT(conflicts, SizeIs(1));
  const Conflict &conflict = conflicts.front();
  EXPECT_EQ(conflict.node, 1u);
  EXPECT_EQ(conflict.axis, 0u);
  ASSERT_THAT(conflict.sides, SizeIs(2));
  ASSERT_EQ(conflict.chosen, conflict.sides[0].origin == 1 ? 0 : 1);
  EXPECT_EQ(conflict.sides[1 - conflict.chosen].origin, 0);
  EXPECT_TRUE(conflict.isDecidedByRules);
}

/// The map's order decides which side is kept.
TEST(Conflicts, KeepWhatTheMapListsFirst) {
  std::vector<Conflict> conflicts = findConflicts(getMatmulOfSum(0, 1, {"seq", "ffn"}));
  ASSERT_THAT(conflicts, SizeIs(1));
  EXPECT_EQ(conflicts.front().sides[conflicts.front().chosen].origin, 0);
}

/// A map that lists neither dimension does not decide.
TEST(Conflicts, KnowWhereTheMapIsSilent) {
  std::vector<Conflict> conflicts = findConflicts(getMatmulOfSum(0, 1, {}));
  ASSERT_THAT(conflicts, SizeIs(1));
  EXPECT_FALSE(conflicts.front().isDecidedByRules);
  EXPECT_GE(conflicts.front().chosen, 0);
}

/// Splits that agree are none, and neither is one that nothing stands against.
TEST(Conflicts, AreNotWhereSplitsAgree) {
  EXPECT_THAT(findConflicts(getMatmulOfSum(1, 0, {"embed"})), IsEmpty());
  EXPECT_THAT(findConflicts(getMatmulOfSum(0, kReplicated, {"seq"})), IsEmpty());
}

/// Where the operation can split neither of two summed dimensions, it splits none.
TEST(Conflicts, KeepNothingWhereNothingCanBe) {
  FactorGraph graph = getMatmulOfSum(1, 1, {"ffn"});
  graph.tensors[3].dimOfAxis = {kReplicated}; // as if y could not be split
  graph.tensors[3].fixed = true;
  std::vector<Conflict> conflicts = findConflicts(graph);
  ASSERT_THAT(conflicts, SizeIs(1));
  EXPECT_EQ(conflicts.front().chosen, -1);
}

} // namespace
