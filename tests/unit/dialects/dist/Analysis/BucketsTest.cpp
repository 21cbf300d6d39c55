// The buckets in which collectives are coalesced.

#include "dialects/dist/Analysis/Buckets.h"

#include "gmock/gmock.h"

using namespace titan::dist;
using ::testing::ElementsAre;

namespace {

constexpr int64_t kLarge = 1000;

// Candidates with a common position share a bucket, whose range narrows.
TEST(Buckets, JoinByPosition) {
  auto buckets = chooseBuckets({{0, 5, 1}, {3, 9, 1}, {4, 7, 1}}, kLarge);
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_THAT(buckets[0].members, ElementsAre(0, 1, 2));
  EXPECT_EQ(buckets[0].earliest, 4);
  EXPECT_EQ(buckets[0].latest, 5);
}

// The third candidate has a common position with the first, but the second has narrowed the range
// of the bucket.
TEST(Buckets, NarrowWithEachMember) {
  auto buckets = chooseBuckets({{0, 9, 1}, {0, 3, 1}, {4, 9, 1}}, kLarge);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_THAT(buckets[0].members, ElementsAre(0, 1));
  EXPECT_THAT(buckets[1].members, ElementsAre(2));
}

// A bucket of `limit` bytes is closed; a smaller one takes even a large candidate.
TEST(Buckets, EndWhenFull) {
  auto buckets = chooseBuckets({{0, 9, 10}, {0, 9, 2000}, {0, 9, 10}}, kLarge);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_THAT(buckets[0].members, ElementsAre(0, 1));
  EXPECT_THAT(buckets[1].members, ElementsAre(2));
}

// An open bucket takes candidates that follow another bucket's first member.
TEST(Buckets, StayOpen) {
  auto buckets = chooseBuckets({{0, 2, 1}, {5, 6, 1}, {1, 2, 1}}, kLarge);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_THAT(buckets[0].members, ElementsAre(0, 2));
}

// Half of the bytes start earlier than the other half.
TEST(Buckets, HalfStartsEarlier) {
  std::vector<BucketCandidate> candidates = {{1, 9, 40}, {2, 9, 30}, {5, 9, 20}, {8, 9, 10}};
  EXPECT_EQ(getOverlapLimit(candidates, kLarge, 100), 50);
  auto buckets = chooseBuckets(candidates, getOverlapLimit(candidates, kLarge, 100));
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_THAT(buckets[0].members, ElementsAre(0, 1));
  EXPECT_EQ(buckets[0].earliest, 2);
  EXPECT_THAT(buckets[1].members, ElementsAre(2, 3));
}

// Few bytes are one bucket, and no bucket exceeds the limit.
TEST(Buckets, HalvesHaveBounds) {
  EXPECT_EQ(getOverlapLimit({{1, 9, 40}, {2, 9, 59}}, kLarge, 100), kLarge);
  EXPECT_EQ(getOverlapLimit({{1, 9, 4000}, {2, 9, 4000}}, kLarge, 100), kLarge);
}

} // namespace
