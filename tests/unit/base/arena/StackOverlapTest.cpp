// Stack overlaps: the offset constraints of two stacks of a loop keep live slots disjoint.

#include "base/arena/ArenaPlanner.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>

using namespace titan::arena;
using testing::ElementsAre;

namespace {

/// Simulates a loop with the produced stack at `distance` from the consumed one: does an iteration
/// overwrite a slot that it or a later iteration reads?
bool collide(const Slots &read, const Slots &written, int64_t from, int64_t to, int64_t distance) {
  for (size_t k = 0; k < read.size(); ++k)
    for (size_t later = k; later < read.size(); ++later)
      for (size_t earlier = 0; earlier <= k; ++earlier) {
        if (!read[later] || !written[earlier])
          continue;
        int64_t live = *read[later] * from, put = distance + *written[earlier] * to;
        if (live < put + to && put < live + from)
          return true;
      }
  return false;
}

/// Slots in random order; with `holes`, some iterations have none.
Slots makeSlots(std::mt19937 &random, int64_t iterations, bool holes) {
  std::vector<int64_t> order;
  Slots slots(static_cast<size_t>(iterations));
  for (auto &slot : slots)
    if (!holes || random() % 3 != 0) {
      slot = static_cast<int64_t>(order.size());
      order.push_back(*slot);
    }
  if (random() % 2)
    std::reverse(order.begin(), order.end());
  else if (random() % 2)
    std::shuffle(order.begin(), order.end(), random);
  size_t next = 0;
  for (auto &slot : slots)
    if (slot)
      slot = order[next++];
  return slots;
}

StackOverlap makeOverlap(const Slots &read, const Slots &written) {
  auto count = [](const Slots &slots) {
    return std::count_if(slots.begin(), slots.end(), [](auto slot) { return slot.has_value(); });
  };
  StackOverlap overlap{{0}, {1}, count(read), count(written), {}, {}};
  findConstraints(read, written, overlap);
  return overlap;
}

// A reversed loop over layers has two constraints for any number of layers: those of the first and
// the last iteration. The produced stack cannot overlap from below.
TEST(StackOverlap, HasTwoConstraintsBackwards) {
  for (int64_t layers : {2, 12, 60}) {
    Slots slots;
    for (int64_t l = layers; l-- > 0;)
      slots.emplace_back(l);
    StackOverlap overlap = makeOverlap(slots, slots);
    EXPECT_THAT(overlap.producedAbove,
                ElementsAre(OffsetConstraint{layers, layers - 1}, OffsetConstraint{1, 0}));
    EXPECT_THAT(overlap.producedBelow, ElementsAre(OffsetConstraint{layers, 0}));
  }
  // With consumed rows of 10 and produced rows of 7, the constraint of the first iteration
  // dominates.
  EXPECT_EQ(getMinDistance({{12, 11}, {1, 0}}, 10, 7), 12 * 10 - 11 * 7);
  EXPECT_EQ(getMinDistance({{12, 11}, {1, 0}}, 7, 10), 7);
}

// In ascending order, the produced stack can overlap from below.
TEST(StackOverlap, OverlapsFromBelowForwards) {
  StackOverlap overlap = makeOverlap({0, 1, 2, 3}, {0, 1, 2, 3});
  EXPECT_THAT(overlap.producedAbove, ElementsAre(OffsetConstraint{4, 0}));
  EXPECT_THAT(overlap.producedBelow, ElementsAre(OffsetConstraint{4, 3}, OffsetConstraint{1, 0}));
}

// At the minimum distances, no slot is overwritten before its last read, for any order and holes.
// In ordered loops, one byte less is too near.
TEST(StackOverlap, KeepsSlotsApart) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    int64_t iterations = 1 + random() % 7, from = 1 + random() % 9, to = 1 + random() % 9;
    Slots read = makeSlots(random, iterations, round % 2),
          written = makeSlots(random, iterations, round % 2);
    StackOverlap overlap = makeOverlap(read, written);
    int64_t above = getMinDistance(overlap.producedAbove, from, to),
            below = getMinDistance(overlap.producedBelow, to, from);
    EXPECT_LE(above, iterations * from);
    EXPECT_LE(below, iterations * to);
    for (int64_t more = 0; more < 20; ++more) {
      EXPECT_FALSE(collide(read, written, from, to, above + more));
      EXPECT_FALSE(collide(read, written, from, to, -below - more));
    }
  }
  Slots backwards = {3, 2, 1, 0};
  StackOverlap overlap = makeOverlap(backwards, backwards);
  for (auto [from, to] : {std::pair(10, 7), std::pair(7, 10), std::pair(5, 5)})
    EXPECT_TRUE(collide(backwards, backwards, from, to,
                        getMinDistance(overlap.producedAbove, from, to) - 1));
}

// A constraint is implied if and only if the others require its distance for all row sizes.
TEST(StackOverlap, CoversNearerConstraints) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<OffsetConstraint> constraints;
    for (int i = 0; i < 4; ++i)
      constraints.push_back(
          {static_cast<int64_t>(random() % 6), static_cast<int64_t>(random() % 6)});
    OffsetConstraint constraint{static_cast<int64_t>(random() % 6),
                                static_cast<int64_t>(random() % 6)};
    bool expected = true;
    for (int64_t below = 0; below <= 60; ++below)
      for (int64_t above = 0; above <= 60; ++above) {
        int64_t most = std::numeric_limits<int64_t>::min();
        for (OffsetConstraint each : constraints)
          most = std::max(most, each.below * below - each.above * above);
        expected = expected && constraint.below * below - constraint.above * above <= most;
      }
    EXPECT_EQ(implies(constraints, constraint), expected);
    EXPECT_EQ(implies(pruneConstraints(constraints), constraint), expected);
  }
}

struct Loop {
  std::vector<ArenaItem> items;
  std::vector<StackOverlap> stackOverlaps;
  std::vector<std::pair<Slots, Slots>> slots; ///< of each stack overlap
};

/// A forward loop, a backward loop from event 10 to 20, and further allocations.
Loop makeLoop(std::mt19937 &random) {
  Loop loop;
  int64_t layers = 1 + random() % 8;
  Slots backwards;
  for (int64_t l = layers; l-- > 0;)
    backwards.emplace_back(l);
  StackOverlap overlap = makeOverlap(backwards, backwards);
  overlap.consumed.clear();
  overlap.produced.clear();
  for (int i = 0; i < 6; ++i) {
    int64_t row = static_cast<int64_t>(1 + random() % 500);
    bool isProduced = random() % 2;
    (isProduced ? overlap.produced : overlap.consumed).push_back(loop.items.size());
    loop.items.push_back({layers * row, isProduced ? 10 : 0, isProduced ? 30 : 20});
  }
  for (int i = 0; i < 10; ++i) {
    int64_t a = random() % 31, b = random() % 31;
    loop.items.push_back({static_cast<int64_t>(random() % 1500), std::min(a, b), std::max(a, b)});
  }
  loop.stackOverlaps.push_back(overlap);
  loop.slots.emplace_back(backwards, backwards);
  return loop;
}

// In a plan, live allocations are disjoint, except overlapping stacks, whose live slots are
// disjoint. The plan is smaller than one without overlaps.
TEST(StackOverlap, MakesPlansSmaller) {
  std::mt19937 random(3);
  int64_t apart = 0, together = 0;
  for (int round = 0; round < 300; ++round) {
    Loop loop = makeLoop(random);
    ArenaPlan plan = planArena(loop.items, loop.stackOverlaps);
    auto has = [](const std::vector<size_t> &list, size_t i) {
      return std::find(list.begin(), list.end(), i) != list.end();
    };
    const StackOverlap &overlap = loop.stackOverlaps.front();
    for (size_t i = 0; i < loop.items.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % 64, 0);
      EXPECT_GE(plan.offsets[i], 0);
      EXPECT_LE(plan.offsets[i] + loop.items[i].bytes, plan.bytes);
      for (size_t j = 0; j < loop.items.size(); ++j) {
        int64_t distance = plan.offsets[j] - plan.offsets[i];
        if (has(overlap.consumed, i) && has(overlap.produced, j)) {
          EXPECT_FALSE(collide(loop.slots[0].first, loop.slots[0].second,
                               loop.items[i].bytes / overlap.consumedSlots,
                               loop.items[j].bytes / overlap.producedSlots, distance));
        } else if (i < j && loop.items[i].livesWith(loop.items[j]) &&
                   !(has(overlap.consumed, j) && has(overlap.produced, i))) {
          EXPECT_TRUE(distance >= loop.items[i].bytes || -distance >= loop.items[j].bytes);
        }
      }
    }
    apart += planArena(loop.items).bytes;
    together += plan.bytes;
  }
  EXPECT_LT(together, apart * 95 / 100);
}

// Each consumed stack has a partner; the peak counts shared bytes once.
TEST(StackOverlap, PairsStacks) {
  Slots backwards = {3, 2, 1, 0};
  StackOverlap overlap = makeOverlap(backwards, backwards);
  overlap.consumed = {0, 1};
  overlap.produced = {2, 3};
  std::vector<ArenaItem> items = {{4 * 640, 0, 5}, {4 * 64, 0, 5}, {4 * 64, 5, 9}, {4 * 640, 5, 9}};
  ArenaPlan plan = planArena(items, {overlap});
  EXPECT_EQ(plan.bytes, 5 * 640 + 5 * 64);
  EXPECT_EQ(plan.offsets[3] - plan.offsets[0], 640);
  EXPECT_EQ(plan.offsets[2] - plan.offsets[1], 64);
  Peak peak = findPeak(items, {overlap});
  EXPECT_EQ(peak.bytes, 5 * 640 + 5 * 64);
  EXPECT_EQ(peak.event, 5);
  EXPECT_EQ(peak.shared, 3 * 640 + 3 * 64);
}

} // namespace
