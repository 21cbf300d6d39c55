// The indices of a dimension that a rank holds, in block order and in head-tail order.
#include "base/layout/DimShard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

using namespace titan;

namespace {

using Numbers = std::vector<int64_t>;

constexpr auto kBlock = ShardOrder::Block, kHeadTail = ShardOrder::HeadTail;

DimShard getShard(int64_t size, const std::vector<ShardLevel> &levels) {
  return titan::getShard(size, levels.data(), static_cast<int>(levels.size()));
}

Numbers listIndices(const DimShard &shard) {
  Numbers indices;
  for (int64_t i = 0; i < shard.length; ++i)
    indices.push_back(shard.toGlobal(i));
  return indices;
}

/// The definition: each axis cuts the list of indices that the axes before it leave.
Numbers cutByDefinition(int64_t size, std::vector<ShardLevel> levels) {
  Numbers list;
  for (int64_t i = 0; i < size; ++i)
    list.push_back(i);
  for (const ShardLevel &level : levels) {
    const int64_t blocks = level.order == kBlock ? level.degree : 2 * level.degree;
    const int64_t length = static_cast<int64_t>(list.size()) / blocks;
    Numbers cut;
    auto take = [&](int64_t block) {
      cut.insert(cut.end(), list.begin() + block * length, list.begin() + (block + 1) * length);
    };
    take(level.coordinate);
    if (level.order == kHeadTail)
      take(blocks - 1 - level.coordinate);
    list = cut;
  }
  return list;
}

// After s permutes a rank has the shard of the rank s positions before, over one axis and over two.
TEST(DimShard, OfAnEarlierRank) {
  for (ShardOrder order : {kBlock, kHeadTail})
    for (int64_t rank = 0; rank < 6; ++rank)
      for (int64_t back = 0; back < 7; ++back) {
        const int64_t other = (rank - back + 12) % 6;
        const ShardLevel one{6, rank, order}, two[] = {{2, rank / 3, kBlock}, {3, rank % 3, order}};
        EXPECT_EQ(titan::getShard(24, &one, 1, back), getShard(24, {{6, other, order}}));
        EXPECT_EQ(titan::getShard(24, two, 2, back),
                  getShard(24, {{2, other / 3, kBlock}, {3, other % 3, order}}));
      }
}

TEST(DimShard, Block) {
  EXPECT_EQ(listIndices(getShard(8, {{4, 2, kBlock}})), (Numbers{4, 5}));
  EXPECT_EQ(getShard(8, {}), DimShard::whole(8));
}

// Shard r has the blocks r and 2n - 1 - r; those of the last shard are adjacent.
TEST(DimShard, HeadTail) {
  EXPECT_EQ(listIndices(getShard(8, {{2, 0, kHeadTail}})), (Numbers{0, 1, 6, 7}));
  DimShard last = getShard(8, {{2, 1, kHeadTail}});
  EXPECT_EQ(listIndices(last), (Numbers{2, 3, 4, 5}));
  EXPECT_EQ(last.intervalCount(), 1);
  DimShard first = getShard(16, {{4, 0, kHeadTail}});
  ASSERT_EQ(first.intervalCount(), 2);
  EXPECT_EQ(first.interval(1).start, 14);
  EXPECT_EQ(first.interval(1).length, 2);
}

// Padding follows the last element, and blocks of padding alone begin after it.
TEST(DimShard, BlocksOfUnevenSizes) {
  EXPECT_EQ(listIndices(getShard(5, {{2, 1, kBlock}})), (Numbers{3, 4, 5}));
  EXPECT_EQ(listIndices(getShard(5, {{2, 1, kBlock}, {2, 1, kBlock}})), (Numbers{6, 7}));
}

// The shards of all ranks contain every index once, and both directions agree, for every product of
// up to three axes with at most one in head-tail order.
TEST(DimShard, AgreesWithTheDefinition) {
  const int64_t size = 2 * 2 * 3 * 4 * 2;
  const std::vector<int64_t> degrees{2, 3, 4};
  for (int headTail = -1; headTail < 3; ++headTail) {
    std::set<int64_t> seen;
    for (int64_t rank = 0; rank < 24; ++rank) {
      std::vector<ShardLevel> levels{{2, rank / 12}, {3, rank / 4 % 3}, {4, rank % 4}};
      if (headTail >= 0)
        levels[headTail].order = kHeadTail;
      DimShard shard = getShard(size, levels);
      Numbers indices = listIndices(shard);
      EXPECT_EQ(indices, cutByDefinition(size, levels)) << "rank " << rank << " of " << headTail;
      EXPECT_TRUE(std::is_sorted(indices.begin(), indices.end()));
      for (int64_t global = 0; global < size; ++global) {
        auto at = std::lower_bound(indices.begin(), indices.end(), global);
        const int64_t local = at - indices.begin();
        EXPECT_EQ(shard.lowerBound(global), local);
        EXPECT_EQ(shard.toLocal(global), at != indices.end() && *at == global ? local : -1);
      }
      Numbers fromIntervals;
      for (int k = 0; k < shard.intervalCount(); ++k)
        for (int64_t i = 0; i < shard.interval(k).length; ++i)
          fromIntervals.push_back(shard.interval(k).start + i);
      EXPECT_EQ(fromIntervals, indices);
      for (int64_t index : indices)
        EXPECT_TRUE(seen.insert(index).second) << "two ranks have " << index;
    }
    EXPECT_EQ(seen.size(), static_cast<size_t>(size));
  }
}

// Under a causal mask position p costs p + 1: head-tail order gives every shard the same work.
TEST(DimShard, HeadTailBalancesCausalWork) {
  for (int64_t degree : {2, 4, 8}) {
    std::set<int64_t> work;
    for (int64_t rank = 0; rank < degree; ++rank) {
      int64_t sum = 0;
      for (int64_t position : listIndices(getShard(64, {{degree, rank, kHeadTail}})))
        sum += position + 1;
      work.insert(sum);
    }
    EXPECT_EQ(work.size(), 1u);
  }
}

} // namespace
