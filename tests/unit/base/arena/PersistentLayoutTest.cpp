// Persistent layouts: blocks are contiguous, and slots are disjoint and aligned.

#include "base/arena/PersistentLayout.h"

#include "gtest/gtest.h"

#include <random>

using namespace titan::arena;

namespace {

// Two parameters of a repeat with three iterations, of 100 and 64 bytes per block, and a contiguous
// table between them in the list.
TEST(PersistentLayout, BlocksAreContiguous) {
  PersistentLayout plan = makePersistentLayout({{300, "layers", 3}, {1000}, {192, "layers", 3}});
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{0, 3 * 192, 128}));
  EXPECT_EQ(plan.strides, (std::vector<int64_t>{192, 0, 192}));
  EXPECT_EQ(plan.bytes, 3 * 192 + 1024);
}

TEST(PersistentLayout, BytesAreTheSumOfItems) {
  const std::vector<PersistentItem> items = {{300, "a", 3}, {7}, {60, "b", 5}, {90, "a", 3}};
  int64_t bytes = 0;
  for (const PersistentItem &item : items)
    bytes += getPersistentBytes(item);
  EXPECT_EQ(makePersistentLayout(items).bytes, bytes);
}

TEST(PersistentLayout, IsEmptyWithoutItems) {
  EXPECT_EQ(makePersistentLayout({}).bytes, 0);
}

/// First byte and length of every slot.
std::vector<std::pair<int64_t, int64_t>> findSlots(const std::vector<PersistentItem> &items,
                                                   const PersistentLayout &plan) {
  std::vector<std::pair<int64_t, int64_t>> slots;
  for (size_t i = 0; i < items.size(); ++i) {
    const int64_t count = items[i].bucket.empty() ? 1 : items[i].slots;
    for (int64_t slot = 0; slot < count; ++slot)
      slots.emplace_back(plan.offsets[i] + slot * plan.strides[i], items[i].bytes / count);
  }
  return slots;
}

TEST(PersistentLayout, KeepsSlotsApartAndAligned) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> bucket(0, 3), bytes(0, 300), slots(1, 5);
  for (int round = 0; round < 200; ++round) {
    const int64_t slotsOf[] = {1, slots(random), slots(random), slots(random)};
    std::vector<PersistentItem> items;
    for (int i = 0; i < 12; ++i) {
      const int where = bucket(random);
      items.push_back(
          {slotsOf[where] * bytes(random), where ? std::to_string(where) : "", slotsOf[where]});
    }
    const PersistentLayout plan = makePersistentLayout(items);
    std::vector<std::pair<int64_t, int64_t>> found = findSlots(items, plan);
    std::sort(found.begin(), found.end());
    int64_t end = 0;
    for (auto [begin, length] : found) {
      EXPECT_EQ(begin % kArenaAlignment, 0);
      EXPECT_GE(begin, end);
      end = begin + length;
    }
    EXPECT_LE(end, plan.bytes);
  }
}

} // namespace
