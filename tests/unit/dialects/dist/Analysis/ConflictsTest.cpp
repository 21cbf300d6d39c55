// Operations with conflicting shardings of operands, and the choice between them.

#include "dialects/dist/Analysis/Conflicts.h"
#include "Rules.h"
#include "gmock/gmock.h"

using namespace titan::dist;
using namespace titan::dist::test;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

/// A tensor whose dimension `dim` is sharded, or none. A sharded tensor is fixed: propagation does
/// not change it.
FactorTensor makeSharded(std::vector<FactorDim> dims, int dim) {
  return {std::move(dims), {dim}, 0, dim != kReplicated};
}

/// x2 = x[seq, embed] + x, and y[seq, ffn] = x2 w[embed, ffn]: the sharding of x reaches the
/// product through x2. The axis shards dimension `xDim` of x and `wDim` of w.
FactorGraph getMatmulOfSum(int xDim, int wDim, std::vector<std::string> preference) {
  ShardingRule add = getAddRule();
  add.factors.push_back({"embed", "", 16, FactorKind::Parallel, {1, 1}, {1}});
  FactorGraph graph{{{"a", 2, std::move(preference)}},
                    {makeSharded({kSeq, kEmbed}, xDim), makeSharded({kEmbed, kFfn}, wDim),
                     makeSharded({kSeq, kEmbed}, kReplicated),
                     makeSharded({kSeq, kFfn}, kReplicated)},
                    {{add, {0, 0}, {2}}, {getMatmulRule(), {2, 1}, {3}}}};
  propagateFactors(graph);
  return graph;
}

/// Each side of a conflict names the declared tensor from which its sharding was propagated.
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

/// The order of the axis rules decides which side is chosen.
TEST(Conflicts, FirstDimensionOfRulesIsChosen) {
  std::vector<Conflict> conflicts = findConflicts(getMatmulOfSum(0, 1, {"seq", "ffn"}));
  ASSERT_THAT(conflicts, SizeIs(1));
  EXPECT_EQ(conflicts.front().sides[conflicts.front().chosen].origin, 0);
}

/// Axis rules that list neither dimension do not decide.
TEST(Conflicts, UndecidedWithoutRules) {
  std::vector<Conflict> conflicts = findConflicts(getMatmulOfSum(0, 1, {}));
  ASSERT_THAT(conflicts, SizeIs(1));
  EXPECT_FALSE(conflicts.front().isDecidedByRules);
  EXPECT_GE(conflicts.front().chosen, 0);
}

/// Equal shardings are no conflict, and neither is a single one.
TEST(Conflicts, NoneForEqualShardings) {
  EXPECT_THAT(findConflicts(getMatmulOfSum(1, 0, {"embed"})), IsEmpty());
  EXPECT_THAT(findConflicts(getMatmulOfSum(0, kReplicated, {"seq"})), IsEmpty());
}

/// If the operation can shard neither of two reduction factors, it shards none.
TEST(Conflicts, NoneChosenIfNoneIsPossible) {
  FactorGraph graph = getMatmulOfSum(1, 1, {"ffn"});
  graph.tensors[3].dimOfAxis = {kReplicated}; // as if y could not be sharded
  graph.tensors[3].fixed = true;
  std::vector<Conflict> conflicts = findConflicts(graph);
  ASSERT_THAT(conflicts, SizeIs(1));
  EXPECT_EQ(conflicts.front().chosen, -1);
}

} // namespace
