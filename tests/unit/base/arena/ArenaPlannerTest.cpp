// Live allocations do not overlap.

#include "base/arena/ArenaPlanner.h"

#include "gtest/gtest.h"

#include <random>

using namespace titan::arena;

namespace {

std::vector<ArenaItem> makeItems(std::mt19937 &random, size_t count, int64_t events) {
  std::uniform_int_distribution<int64_t> event(0, events - 1), bytes(0, 20);
  std::vector<ArenaItem> items;
  for (size_t i = 0; i < count; ++i) {
    int64_t a = event(random), b = event(random);
    items.push_back({bytes(random) * 64, std::min(a, b), std::max(a, b)});
  }
  return items;
}

/// The size of the smallest arena. A best plan is the first-fit placement in the order of its
/// offsets, so all orders are tried.
int64_t findSmallestArena(const std::vector<ArenaItem> &items) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t least = placeInOrder(items, order).bytes;
  while (std::next_permutation(order.begin(), order.end()))
    least = std::min(least, placeInOrder(items, order).bytes);
  return least;
}

bool overlap(int64_t a, int64_t aBytes, int64_t b, int64_t bBytes) {
  return a < b + bBytes && b < a + aBytes;
}

// Allocations that are live at the same event share no byte, in 300 random instances.
TEST(ArenaPlanner, KeepsLiveBuffersApart) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<ArenaItem> items = makeItems(random, 40, 30);
    ArenaPlan plan = planArena(items);
    for (size_t i = 0; i < items.size(); ++i) {
      EXPECT_LE(plan.offsets[i] + items[i].bytes, plan.bytes);
      EXPECT_EQ(plan.offsets[i] % 64, 0);
      for (size_t j = 0; j < i; ++j)
        if (items[i].livesWith(items[j])) {
          EXPECT_FALSE(overlap(plan.offsets[i], items[i].bytes, plan.offsets[j], items[j].bytes));
        }
    }
    EXPECT_GE(plan.bytes, findPeak(items).bytes);
  }
}

// The peak is the first event with the most live bytes.
TEST(ArenaPlanner, FindsThePeak) {
  std::vector<ArenaItem> items = {{64, 0, 9}, {100, 2, 4}, {128, 4, 6}, {256, 7, 7}, {0, 3, 3}};
  EXPECT_EQ(findPeak(items).bytes, 64 + 128 + 128);
  EXPECT_EQ(findPeak(items).event, 4);
  EXPECT_EQ(findPeak({}).bytes, 0);
}

// On instances small enough for all orders, the plan is near the smallest arena, and mostly equal
// to it.
TEST(ArenaPlanner, IsCloseToTheSmallestArena) {
  std::mt19937 random(2);
  int equal = 0, rounds = 100;
  for (int round = 0; round < rounds; ++round) {
    std::vector<ArenaItem> items = makeItems(random, 6, 6);
    int64_t least = findSmallestArena(items), planned = planArena(items).bytes;
    EXPECT_GE(planned, least);
    EXPECT_LE(static_cast<double>(planned), 1.34 * static_cast<double>(least));
    equal += planned == least;
  }
  EXPECT_GE(equal, 90);
}

// Local search continues until the plan has no gaps, or until it cannot improve.
TEST(ArenaPlanner, ImprovesItsOrder) {
  std::mt19937 random(3);
  int64_t planned = 0, sorted = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<ArenaItem> items = makeItems(random, 100, 100);
    std::vector<size_t> order(items.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return items[a].bytes > items[b].bytes; });
    int64_t least = findPeak(items).bytes;
    planned += planArena(items).bytes - least;
    sorted += placeInOrder(items, order).bytes - least;
  }
  EXPECT_LT(2 * planned, sorted);
}

// Larger gaps get more rounds: gaps of megabytes shrink to a tenth of those after sorting.
TEST(ArenaPlanner, SearchesLongerForLargerGaps) {
  std::mt19937 random(4);
  int64_t planned = 0, sorted = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<ArenaItem> items = makeItems(random, 60, 60);
    for (ArenaItem &item : items)
      item.bytes <<= 14;
    std::vector<size_t> order(items.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return items[a].bytes > items[b].bytes; });
    int64_t least = findPeak(items).bytes;
    planned += planArena(items).bytes - least;
    sorted += placeInOrder(items, order).bytes - least;
  }
  EXPECT_LT(10 * planned, sorted);
}

// Compiler and runtime compute the same offsets.
TEST(ArenaPlanner, IsDeterministic) {
  std::mt19937 random(5);
  std::vector<ArenaItem> items = makeItems(random, 80, 60);
  EXPECT_EQ(planArena(items).offsets, planArena(items).offsets);
}

// Allocations with successive live ranges share memory; sizes are rounded up to cache lines.
TEST(ArenaPlanner, ReusesMemoryOverTime) {
  ArenaPlan plan = planArena({{100, 0, 1}, {60, 2, 3}, {64, 1, 2}});
  EXPECT_EQ(plan.bytes, 192);
  EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.offsets[2], 128);
}

// An empty plan needs no memory.
TEST(ArenaPlanner, EmptyPlanNeedsNoMemory) {
  EXPECT_EQ(planArena({}).bytes, 0);
  EXPECT_EQ(planArena({{0, 0, 5}}).bytes, 0);
}

} // namespace
