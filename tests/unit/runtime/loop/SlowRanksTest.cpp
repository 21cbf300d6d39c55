// The rank that is repeatedly slower than the others.
#include "loop/SlowRanks.h"

#include <gtest/gtest.h>

namespace titan::rt {
namespace {

const std::vector<int64_t> sameStage = {0, 0, 0, 0};

TEST(SlowRanksTest, NamesARankAfterThreeRows) {
  SlowRanks ranks(sameStage);
  EXPECT_FALSE(ranks.add(10, {1, 1, 1.5, 1}));
  EXPECT_FALSE(ranks.add(20, {1, 1.1, 1.6, 1}));
  const auto note = ranks.add(30, {1, 1, 1.7, 0.9});
  ASSERT_TRUE(note);
  EXPECT_EQ(note->rank, 2);
  EXPECT_EQ(note->first, 1);
  EXPECT_EQ(note->last, 30);
  EXPECT_NEAR(note->seconds, 1.6, 1e-12);
  EXPECT_NEAR(note->ofOthers, 1, 1e-12);
  EXPECT_FALSE(ranks.add(40, {1, 1, 1.7, 1})) << "said once";
}

TEST(SlowRanksTest, DelaysInTurnAreNoSlowRank) {
  SlowRanks ranks(sameStage);
  for (int64_t row = 1; row < 20; ++row) {
    std::vector<double> seconds = {1, 1, 1, 1};
    seconds[static_cast<size_t>(row % 4)] = 3;
    EXPECT_FALSE(ranks.add(10 * row, seconds));
  }
}

TEST(SlowRanksTest, AGapStartsAgain) {
  SlowRanks ranks(sameStage);
  ranks.add(10, {1, 1, 2, 1});
  ranks.add(20, {1, 1, 2, 1});
  EXPECT_FALSE(ranks.add(30, {1, 1, 1.1, 1}));
  EXPECT_FALSE(ranks.add(40, {1, 1, 2, 1}));
  ranks.add(50, {1, 1, 2, 1});
  const auto note = ranks.add(60, {1, 1, 2, 1});
  ASSERT_TRUE(note);
  EXPECT_EQ(note->first, 31);
}

TEST(SlowRanksTest, ComparesRanksOfOneStageOnly) {
  SlowRanks stages({0, 1, 2, 3});
  for (int64_t row = 1; row < 5; ++row)
    EXPECT_FALSE(stages.add(row, {1, 5, 1, 1}));
  SlowRanks pairs({0, 0, 1, 1});
  for (int64_t row = 1; row < 3; ++row)
    EXPECT_FALSE(pairs.add(row, {1, 1.1, 5, 9}));
  EXPECT_EQ(pairs.add(3, {1, 1.1, 5, 9})->rank, 3);
}

TEST(SlowRanksTest, ShortStepsDiffer) {
  SlowRanks ranks(sameStage);
  for (int64_t row = 1; row < 5; ++row)
    EXPECT_FALSE(ranks.add(row, {0.001, 0.001, 0.002, 0.001}));
}

} // namespace
} // namespace titan::rt
