// The collectives into which a reshard is lowered.

#include "dialects/dist/Analysis/CollectivePlan.h"
#include "gmock/gmock.h"
#include <algorithm>
#include <random>
#include <set>

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
TEST(CollectivePlan, PaddedStorageIsShardedAtOnce) {
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
TEST(CollectivePlan, MergesAxesAndScattersFirst) {
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

/// An axis in head-tail order is gathered and sliced alone, and does not move between dimensions.
/// Another order is reached by a gather and a slice.
TEST(CollectivePlan, HeadTailOrder) {
  const ShardingByDim block{{{0}}}, mirrored{{{0}}, {}, 0, {}, {0}};
  EXPECT_THAT(getKinds(mirrored, {{{}}}), ElementsAre(Kind::AllGather));
  EXPECT_THAT(getKinds(mirrored, mirrored), ElementsAre());
  EXPECT_THAT(getKinds(mirrored, block), ElementsAre(Kind::AllGather, Kind::LocalSlice));
  EXPECT_THAT(getKinds(block, mirrored), ElementsAre(Kind::AllGather, Kind::LocalSlice));
  EXPECT_THAT(getKinds({{{0, 1}}, {}, 0, {}, {0}}, {{{}}}),
              ElementsAre(Kind::AllGather, Kind::AllGather));
  EXPECT_THAT(getKinds({{{0, 1}}, {}, 0, {}, {1}}, {{{}}}),
              ElementsAre(Kind::AllGather, Kind::AllGather));
  EXPECT_THAT(getKinds({{{}}}, {{{0, 1}}, {}, 0, {}, {0}}),
              ElementsAre(Kind::LocalSlice, Kind::LocalSlice));
  EXPECT_THAT(getKinds({{{0}, {}}, {}, 0, {}, {0}}, {{{}, {0}}, {}, 0, {}, {0}}),
              ElementsAre(Kind::AllGather, Kind::LocalSlice));
  // The order of an axis that both dimensions keep changes the axes after it, too.
  EXPECT_THAT(getKinds({{{0, 1}}}, {{{0, 1}}, {}, 0, {}, {0}}),
              ElementsAre(Kind::AllGather, Kind::AllGather, Kind::LocalSlice, Kind::LocalSlice));
}

ShardingByDim getRandomSharding(std::mt19937 &random) {
  ShardingByDim sharding{{{}, {}, {}}, {}, 0, {}};
  for (int axis = 0; axis < 4; ++axis) {
    int choice = static_cast<int>(random() % 6);
    if (choice < 3)
      sharding.dims[choice].push_back(axis);
    else if (choice == 3)
      sharding.flat.push_back(axis);
    else if (choice == 4)
      sharding.partial.push_back(axis);
  }
  sharding.flatFrom = sharding.flat.empty() ? 0 : static_cast<int>(random() % 2);
  for (const std::vector<int> &dim : sharding.dims)
    if (!dim.empty() && random() % 3 == 0)
      sharding.headTail.push_back(dim[random() % dim.size()]);
  std::sort(sharding.headTail.begin(), sharding.headTail.end());
  return sharding;
}

bool shardsDimension(const ShardingByDim &sharding, int axis) {
  return std::any_of(sharding.dims.begin(), sharding.dims.end(), [&](const std::vector<int> &dim) {
    return std::find(dim.begin(), dim.end(), axis) != dim.end();
  });
}

/// The orders of the axes that shard dimensions.
std::set<int> getHeadTail(const ShardingByDim &sharding) {
  std::set<int> axes;
  for (const std::vector<int> &dim : sharding.dims)
    for (int axis : dim)
      if (std::find(sharding.headTail.begin(), sharding.headTail.end(), axis) !=
          sharding.headTail.end())
        axes.insert(axis);
  return axes;
}

/// For random shardings the chain terminates at the target, orders included, and leaves common
/// partial axes alone. An axis keeps its order as long as it shards a dimension.
TEST(CollectivePlan, ReachesEverySharding) {
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    ShardingByDim from = getRandomSharding(random), to = getRandomSharding(random);
    auto steps = planCollectives(from, to, i % 2 == 0);
    EXPECT_LT(steps.size(), 20u);
    const ShardingByDim &last = steps.empty() ? from : steps.back().after;
    EXPECT_EQ(last.dims, to.dims);
    EXPECT_EQ(getHeadTail(last), getHeadTail(to));
    const ShardingByDim *before = &from;
    for (const CollectiveStep &step : steps) {
      for (int axis : step.axes) {
        bool isHeadTail = getHeadTail(*before).count(axis) || getHeadTail(step.after).count(axis);
        EXPECT_TRUE(!isHeadTail || (step.axes.size() == 1 && step.kind != Kind::AllToAll));
      }
      for (const std::vector<int> &dim : before->dims)
        for (int axis : dim)
          EXPECT_TRUE(!shardsDimension(step.after, axis) ||
                      getHeadTail(*before).count(axis) == getHeadTail(step.after).count(axis));
      before = &step.after;
    }
    EXPECT_EQ(last.flat, to.flat);
    EXPECT_TRUE(std::is_permutation(last.partial.begin(), last.partial.end(), to.partial.begin(),
                                    to.partial.end()));
  }
}

} // namespace
