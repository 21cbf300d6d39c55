// The turns of a training step whose updates have different periods.
#include "base/turns/Turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace titan;
using testing::ElementsAre;

namespace {

std::vector<int64_t> listSteps(const Period &period, int64_t last) {
  std::vector<int64_t> steps;
  for (int64_t step = 1; step <= last; ++step)
    if (period.isDue(step))
      steps.push_back(step);
  return steps;
}

TEST(Turns, PeriodsStartAfterTheirOffset) {
  EXPECT_THAT(listSteps({1, 0}, 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(listSteps({2, 1}, 6), ElementsAre(2, 4, 6));
  EXPECT_THAT(listSteps({3, 4}, 12), ElementsAre(5, 8, 11));
}

TEST(Turns, OneTurnForOnePeriod) {
  const std::vector<Turn> turns = findTurns({{2, 1}});
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_THAT(turns[0].due, ElementsAre(Period{2, 1}));
  EXPECT_TRUE(turns[0].idle.empty());
  EXPECT_DOUBLE_EQ(computeStepFraction(turns[0]), 0.5);
}

TEST(Turns, ATurnForEachCombination) {
  const std::vector<Turn> turns = findTurns({{2, 0}, {3, 0}});
  ASSERT_EQ(turns.size(), 3u);
  EXPECT_THAT(turns[0].due, ElementsAre(Period{2, 0}, Period{3, 0}));
  EXPECT_THAT(turns[1].due, ElementsAre(Period{2, 0}));
  EXPECT_THAT(turns[2].due, ElementsAre(Period{3, 0}));
  EXPECT_DOUBLE_EQ(computeStepFraction(turns[0]), 1.0 / 6);
}

// In every step that updates something, exactly one turn runs, and it updates what is due.
TEST(Turns, CoverAllSteps) {
  const std::vector<Period> all = {{1, 5}, {2, 0}, {2, 1}, {3, 2}, {4, 7}, {6, 0}};
  for (unsigned chosen = 1; chosen < 1u << all.size(); ++chosen) {
    std::vector<Period> periods;
    for (size_t i = 0; i < all.size(); ++i)
      if (chosen >> i & 1)
        periods.push_back(all[i]);
    const std::vector<Turn> turns = findTurns(periods);
    const std::optional<int64_t> idle = findIdleStep(periods);
    for (int64_t step = 1; step <= 40; ++step) {
      size_t due = 0, running = 0;
      for (const Period &period : periods)
        due += period.isDue(step);
      for (const Turn &turn : turns) {
        if (!turn.runsIn(step))
          continue;
        ++running;
        EXPECT_EQ(turn.due.size(), due);
        EXPECT_EQ(turn.due.size() + turn.idle.size(), periods.size());
      }
      EXPECT_EQ(running, due > 0 ? 1u : 0u);
      EXPECT_TRUE(due > 0 || idle.value_or(41) <= step);
    }
    for (const Period &period : periods)
      EXPECT_FALSE(idle && period.isDue(*idle));
  }
}

TEST(Turns, RareTurnsDoNotCount) {
  const std::vector<Turn> turns = findTurns({{1, 0}, {1, 10}});
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_DOUBLE_EQ(computeStepFraction(turns[0]), 0);
  EXPECT_DOUBLE_EQ(computeStepFraction(turns[1]), 1);
}

TEST(Turns, RepetitionIsBounded) {
  EXPECT_EQ(stepsUntilRepetition({{4, 0}, {6, 3}}), 15);
  EXPECT_EQ(stepsUntilRepetition({{1'000'003, 0}}), std::nullopt);
  EXPECT_EQ(stepsUntilRepetition({{1, 1'000'000}}), std::nullopt);
  EXPECT_EQ(stepsUntilRepetition({{99'991, 0}, {99'989, 0}}), std::nullopt);
}

} // namespace
