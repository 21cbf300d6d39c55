//===- CollectivePlanTest.cpp - Collectives that implement a reshard ------===//

#include "dialects/dist/Analysis/CollectivePlan.h"
#include "gmock/gmock.h"
#include <random>

using namespace titan::dist;
using testing::ElementsAre;

namespace {

using Kind = CollectiveStep::Kind;

std::vector<Kind> getKinds(const ShardingByDim &from, const ShardingByDim &to) {
  std::vector<Kind> kinds;
  for (const CollectiveStep &step : planCollectives(from, to))
    kinds.push_back(step.kind);
  return kinds;
}

/// Each change of one axis list is one collective.
TEST(CollectivePlan, OneStepEach) {
  EXPECT_THAT(getKinds({{{0}}}, {{{}}}), ElementsAre(Kind::AllGather));
  EXPECT_THAT(getKinds({{{}}}, {{{0}}}), ElementsAre(Kind::LocalSlice));
  EXPECT_THAT(getKinds({{{}}, {}, 0, {0}}, {{{0}}}), ElementsAre(Kind::ReduceScatter));
  EXPECT_THAT(getKinds({{{}}, {}, 0, {0}}, {{{}}}), ElementsAre(Kind::AllReduce));
  EXPECT_THAT(getKinds({{{0}, {}}}, {{{}, {0}}}), ElementsAre(Kind::AllToAll));
  EXPECT_THAT(getKinds({{{}}}, {{{}}, {}, 0, {0}}), ElementsAre(Kind::MakePartial));
  EXPECT_THAT(getKinds({{{0}}}, {{{0}}}), ElementsAre());
}

/// One step gathers flat storage, and one scatters partial gradients into it.
TEST(CollectivePlan, FlatStorage) {
  EXPECT_THAT(getKinds({{{1}}, {0}, 0}, {{{1}}}), ElementsAre(Kind::AllGather));
  EXPECT_THAT(getKinds({{{1}}, {}, 0, {0}}, {{{1}}, {0}, 0}), ElementsAre(Kind::ReduceScatter));
  EXPECT_THAT(getKinds({{{}}}, {{{}}, {0}, 0}), ElementsAre(Kind::LocalSlice));
}

/// Padded flat storage is sharded by all axes at once. Values that are partial over some of them
/// are all-reduced.
TEST(CollectivePlan, PaddedStorageIsCutAtOnce) {
  auto getKindsPadded = [](const ShardingByDim &from, const ShardingByDim &to) {
    std::vector<Kind> kinds;
    for (const CollectiveStep &step : planCollectives(from, to, false))
      kinds.push_back(step.kind);
    return kinds;
  };
  EXPECT_THAT(getKindsPadded({{{}}, {}, 0, {0}}, {{{}}, {0, 1}, 0}),
              ElementsAre(Kind::AllReduce, Kind::LocalSlice));
  EXPECT_THAT(getKindsPadded({{{}}, {}, 0, {0, 1}}, {{{}}, {0, 1}, 0}),
              ElementsAre(Kind::ReduceScatter));
  EXPECT_THAT(getKindsPadded({{{}}, {0}, 0}, {{{}}, {0, 1}, 0}),
              ElementsAre(Kind::AllGather, Kind::LocalSlice));
  EXPECT_THAT(getKinds({{{}}, {0}, 0}, {{{}}, {0, 1}, 0}), ElementsAre(Kind::LocalSlice));
}

/// Adjacent axes share a step; all-reduce comes after reduce-scatter.
TEST(CollectivePlan, MergesAxesAndCutsFirst) {
  auto steps = planCollectives({{{}}, {}, 0, {0, 1, 2}}, {{{}}, {0}, 0});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, Kind::ReduceScatter);
  EXPECT_THAT(steps[0].axes, ElementsAre(0));
  EXPECT_EQ(steps[1].kind, Kind::AllReduce);
  EXPECT_THAT(steps[1].axes, ElementsAre(1, 2));
  EXPECT_THAT(getKinds({{{0, 1}}}, {{{}}}), ElementsAre(Kind::AllGather));
}

/// An axis that another dimension needs is moved by all-to-all, not gathered.
TEST(CollectivePlan, MovesRatherThanGathers) {
  EXPECT_THAT(getKinds({{{0, 1}, {}}}, {{{}, {0}}}), ElementsAre(Kind::AllGather, Kind::AllToAll));
}

ShardingByDim getRandomSharding(std::mt19937 &random) {
  ShardingByDim layout{{{}, {}, {}}, {}, 0, {}};
  for (int axis = 0; axis < 4; ++axis) {
    int choice = static_cast<int>(random() % 6);
    if (choice < 3)
      layout.dims[choice].push_back(axis);
    else if (choice == 3)
      layout.flat.push_back(axis);
    else if (choice == 4)
      layout.partial.push_back(axis);
  }
  layout.flatFrom = layout.flat.empty() ? 0 : static_cast<int>(random() % 2);
  return layout;
}

/// For random shardings the chain terminates at the target and leaves common partial axes alone.
TEST(CollectivePlan, ReachesEveryLayout) {
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    ShardingByDim from = getRandomSharding(random), to = getRandomSharding(random);
    auto steps = planCollectives(from, to, i % 2 == 0);
    EXPECT_LT(steps.size(), 20u);
    const ShardingByDim &last = steps.empty() ? from : steps.back().after;
    EXPECT_EQ(last.dims, to.dims);
    EXPECT_EQ(last.flat, to.flat);
    EXPECT_TRUE(std::is_permutation(last.partial.begin(), last.partial.end(), to.partial.begin(),
                                    to.partial.end()));
  }
}

} // namespace
