// The times, bubbles, stash slots and memory of schedules agree with published formulas.

#include "base/schedule/Replay.h"
#include "base/schedule/Generators.h"
#include "base/schedule/Memory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace titan::schedule;

namespace {

/// The times of a Llama layer of 8 billion parameters at 8,192 tokens: attention has no wgrad.
constexpr StageCosts llama{1, 1.2, 0.867};

Schedule make(const char *name, Sizes sizes) {
  return generate(*findAlgorithm(name), sizes);
}

double computeBubble(const Schedule &schedule, const StageCosts &ofRank) {
  return replay(schedule, makeCosts(ofRank, schedule)).bubble();
}

/// The residuals that a rank stashes at most, in microbatches of all its layers.
double computePeak(const Schedule &schedule) {
  std::vector<int> peaks = assignStashSlots(schedule).peakOfRank;
  return *std::max_element(peaks.begin(), peaks.end()) * double(schedule.ranks.size()) /
         schedule.stages;
}

struct Expected {
  const char *name;
  int stagesPerRank;
  double bubblePercent, peak;
};

// The idle time of 8 ranks with 16 microbatches, with a barrier at the optimizer.
TEST(Replay, HasTheBubblesOfTheAlgorithms) {
  for (const Expected &expected :
       {Expected{"1f1b", 1, 30.4, 8}, Expected{"interleaved_1f1b", 2, 17.9, 11.5},
        Expected{"interleaved_1f1b", 4, 9.9, 9.75}, Expected{"zb_h1", 1, 16.0, 8},
        Expected{"zbv", 2, 7.9, 8}, Expected{"dualpipev", 2, 14.6, 8.5}}) {
    Schedule schedule = make(expected.name, {8, expected.stagesPerRank, 16});
    EXPECT_NEAR(100 * computeBubble(schedule, llama), expected.bubblePercent, 0.05)
        << expected.name;
    EXPECT_EQ(computePeak(schedule), expected.peak) << expected.name;
  }
}

// GPipe, 1F1B and their forms with v stages a rank: bubble (p - 1) / v of m + (p - 1) / v
// microbatches (arXiv 2104.04473, section 2.2). ZB-H1 and ZB-V with equal times: (p - 1) F and half
// of it, of 3 m F and the bubble.
TEST(Replay, AgreesWithTheFormulas) {
  for (int p : {1, 2, 3, 4, 8})
    for (int m : {1, 2, 3, 7, 8, 9, 16, 33}) {
      for (int v : {1, 2, 4}) {
        const double bubble = double(p - 1) / v;
        const double fraction = bubble / (m + bubble);
        if (v == 1) {
          EXPECT_NEAR(computeBubble(make("gpipe", {p, 1, m}), llama), fraction, 1e-12);
          EXPECT_NEAR(computeBubble(make("1f1b", {p, 1, m}), llama), fraction, 1e-12);
        }
        if (m < p && v > 1)
          continue; // the first microbatch returns before the rank has other work
        EXPECT_NEAR(computeBubble(make("looped_bfs", {p, v, m}), llama), fraction, 1e-12);
        EXPECT_NEAR(computeBubble(make("interleaved_1f1b", {p, v, m}), llama), fraction, 1e-12)
            << p << ' ' << v << ' ' << m;
      }
      if (m >= 2 * p) {
        EXPECT_NEAR(computeBubble(make("zb_h1", {p, 1, m}), {1, 1, 1}), (p - 1) / (3.0 * m + p - 1),
                    1e-12);
        EXPECT_NEAR(computeBubble(make("zbv", {p, 2, m}), {1, 1, 1}),
                    (p - 1) / 2.0 / (3.0 * m + (p - 1) / 2.0), 1e-12);
      }
    }
}

// 1F1B stashes p - r microbatches on rank r; with wgrad apart, all ranks stash p.
TEST(Replay, CountsStashSlots) {
  EXPECT_THAT(assignStashSlots(make("1f1b", {4, 1, 8})).count, testing::ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(assignStashSlots(make("zb_h1", {4, 1, 8})).count, testing::ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(assignStashSlots(make("gpipe", {2, 1, 5})).count, testing::ElementsAre(5, 5));
  StashSlots slots = assignStashSlots(make("1f1b", {2, 1, 5}));
  EXPECT_THAT(slots.slotOf[0], testing::ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(slots.slotOf[1], testing::ElementsAre(0, 0, 0, 0, 0));
}

// Two ranks, one microbatch: F, transfer, F, B, transfer, B.
TEST(Replay, CountsTransfers) {
  Schedule schedule = make("1f1b", {2, 1, 1});
  Costs costs = makeCosts({1, 2, 3}, schedule);
  costs.transfer = 0.5;
  Replay times = replay(schedule, costs);
  EXPECT_EQ(times.step, 1 + 0.5 + 1 + 5 + 0.5 + 5);
  EXPECT_EQ(times.idle(0), times.step - 6);
}

// The measured time of a whole backward pass may be less than the times of its halves.
TEST(Replay, UsesTheTimeOfAWholeBackwardPass) {
  EXPECT_EQ(replay(make("gpipe", {1, 1, 4}), {{{1, 1, 1, 1.5}}}).step, 4 * 2.5);
}

// Overlapped cells end together, after less time than both passes.
TEST(Replay, CountsOverlap) {
  Schedule schedule = make("dualpipev", {4, 2, 16});
  Costs costs = makeCosts({1, 1, 1}, schedule);
  const double without = replay(schedule, costs).step;
  costs.overlap = 0.5;
  EXPECT_LT(replay(schedule, costs).step, without);
}

// Memory follows from the order: the residuals of dgrad live until I, the others and the operands
// of wgrad until W.
TEST(Memory, FollowsTheOrder) {
  Schedule schedule{1, 2, {0}, {{}}};
  for (Action action :
       {Action{Kind::Unshard, 0}, Action{Kind::Forward, 0, 0}, Action{Kind::Forward, 0, 1},
        Action{Kind::Dgrad, 0, 0}, Action{Kind::Backward, 0, 1}, Action{Kind::Reshard, 0},
        Action{Kind::Wgrad, 0, 0}})
    append(schedule.ranks[0], action);
  StageBytes bytes{
      .persistent = 1000, .unsharded = 100, .dgradStash = 10, .wgradStash = 20, .wgradOperands = 3};
  EXPECT_THAT(findMemory(schedule, {bytes})[0],
              testing::ElementsAre(1100, 1130, 1160, 1163, 1153, 1123, 1023));
}

// The input of a stage lives from its receive to F, its gradient from I or B to the send.
TEST(Memory, CountsValuesThatCrossRanks) {
  Schedule schedule{2, 1, {0, 1}, {{}, {}}};
  for (Action action : {Action{Kind::Forward, 0, 0}, Action{Kind::SendForward, 0, 0},
                        Action{Kind::ReceiveBackward, 0, 0}, Action{Kind::Backward, 0, 0}})
    append(schedule.ranks[0], action);
  for (Action action : {Action{Kind::ReceiveForward, 1, 0}, Action{Kind::Forward, 1, 0},
                        Action{Kind::Backward, 1, 0}, Action{Kind::SendBackward, 1, 0}})
    append(schedule.ranks[1], action);
  std::vector<StageBytes> bytes = {{.dgradStash = 10}, {.dgradStash = 100, .boundary = 1}};
  auto memory = findMemory(schedule, bytes);
  EXPECT_THAT(memory[0], testing::ElementsAre(11, 11, 11, 11));
  EXPECT_THAT(memory[1], testing::ElementsAre(1, 101, 101, 1));
}

} // namespace
