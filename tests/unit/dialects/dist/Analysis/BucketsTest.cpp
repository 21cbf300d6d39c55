//===- BucketsTest.cpp - Which exchanges become one message ---------------===//

#include "dialects/dist/Analysis/Buckets.h"

#include "gmock/gmock.h"

using namespace titan::dist;
using ::testing::ElementsAre;

namespace {

constexpr int64_t kLarge = 1000;

// What may stand at one place goes together, and the place narrows.
TEST(Buckets, ShareAPlace) {
  auto buckets = chooseBuckets({{0, 5, 1}, {3, 9, 1}, {4, 7, 1}}, kLarge);
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_THAT(buckets[0].members, ElementsAre(0, 1, 2));
  EXPECT_EQ(buckets[0].earliest, 4);
  EXPECT_EQ(buckets[0].latest, 5);
}

// Each fits the first, but the second has moved its end before the third's beginning.
TEST(Buckets, NarrowWithEachMember) {
  auto buckets = chooseBuckets({{0, 9, 1}, {0, 3, 1}, {4, 9, 1}}, kLarge);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_THAT(buckets[0].members, ElementsAre(0, 1));
  EXPECT_THAT(buckets[1].members, ElementsAre(2));
}

// A bucket that has its bytes takes no more; one that has not takes even a large one.
TEST(Buckets, EndWhenFull) {
  auto buckets = chooseBuckets({{0, 9, 10}, {0, 9, 2000}, {0, 9, 10}}, kLarge);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_THAT(buckets[0].members, ElementsAre(0, 1));
  EXPECT_THAT(buckets[1].members, ElementsAre(2));
}

// One that is open takes those that come after another has begun.
TEST(Buckets, StayOpen) {
  auto buckets = chooseBuckets({{0, 2, 1}, {5, 6, 1}, {1, 2, 1}}, kLarge);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_THAT(buckets[0].members, ElementsAre(0, 2));
}

// Half of the bytes go ahead, and what a message has begun with stays in it.
TEST(Buckets, HalfGoesAhead) {
  std::vector<BucketCandidate> made = {{1, 9, 40}, {2, 9, 30}, {5, 9, 20}, {8, 9, 10}};
  EXPECT_EQ(getOverlapLimit(made, kLarge, 100), 50);
  auto buckets = chooseBuckets(made, getOverlapLimit(made, kLarge, 100));
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_THAT(buckets[0].members, ElementsAre(0, 1));
  EXPECT_EQ(buckets[0].earliest, 2);
  EXPECT_THAT(buckets[1].members, ElementsAre(2, 3));
}

// Small ones are one message, and no message is larger than the limit.
TEST(Buckets, HalvesHaveBounds) {
  EXPECT_EQ(getOverlapLimit({{1, 9, 40}, {2, 9, 59}}, kLarge, 100), kLarge);
  EXPECT_EQ(getOverlapLimit({{1, 9, 4000}, {2, 9, 4000}}, kLarge, 100), kLarge);
}

} // namespace
