// Stored tensors with fewer elements than the parameter that starts from them.
#include "base/weights/ShorterTensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace titan;
using testing::ElementsAre;

namespace {

// unembed[embed 4, vocab 6] from [vocab, embed], of which 5 are stored.
TEST(ShorterTensor, HasFewerRows) {
  const StoredParameter stored{"unembed", "w", {6, 4}, 0, {4, 6}, {1, 4}};
  const auto shorter = shorten(stored, std::vector<int64_t>{5, 4});
  ASSERT_TRUE(shorter);
  EXPECT_THAT(shorter->sizes, ElementsAre(4, 5));
  EXPECT_THAT(shorter->strides, ElementsAre(1, 4));
}

// The strides of outer dimensions follow from shorter inner ones.
TEST(ShorterTensor, HasFewerColumns) {
  const StoredParameter stored{"w", "w", {6, 4}, 0, {6, 4}, {4, 1}};
  const auto shorter = shorten(stored, std::vector<int64_t>{6, 3});
  ASSERT_TRUE(shorter);
  EXPECT_THAT(shorter->sizes, ElementsAre(6, 3));
  EXPECT_THAT(shorter->strides, ElementsAre(3, 1));
}

// wq[embed 2, heads 3, pair 2, half 2] from [(heads, half, pair), embed].
TEST(ShorterTensor, HasWholeIndicesOfTheOutermostFactor) {
  const StoredParameter stored{"wq", "q", {12, 2}, 0, {2, 3, 2, 2}, {1, 8, 2, 4}};
  const auto shorter = shorten(stored, std::vector<int64_t>{8, 2});
  ASSERT_TRUE(shorter);
  EXPECT_THAT(shorter->sizes, ElementsAre(2, 2, 2, 2));
  EXPECT_EQ(shorter->strides, stored.strides);
  EXPECT_FALSE(shorten(stored, std::vector<int64_t>{6, 2}));
}

TEST(ShorterTensor, IsRefused) {
  const StoredParameter stored{"w", "w", {6, 4}, 0, {6, 4}, {4, 1}};
  EXPECT_FALSE(shorten(stored, std::vector<int64_t>{7, 4}));
  EXPECT_FALSE(shorten(stored, std::vector<int64_t>{6}));
  // One of several parameters of the tensor.
  EXPECT_FALSE(shorten({"w", "w", {6, 4}, 0, {3, 4}, {4, 1}}, std::vector<int64_t>{5, 4}));
  // A dimension of the tensor that the parameter lacks.
  EXPECT_FALSE(shorten({"w", "w", {1, 6}, 0, {6}, {1}}, std::vector<int64_t>{0, 6}));
}

/// The stored element of each element; -1 if there is none.
std::vector<int64_t> elements(const std::vector<int64_t> &sizes, const std::vector<int64_t> &common,
                              int64_t first, int64_t count) {
  std::vector<int64_t> found(static_cast<size_t>(count), -1);
  forEachCommonRun(sizes, common, first, count, [&](const CommonRun &run) {
    for (int64_t i = 0; i < run.count; ++i)
      found[static_cast<size_t>(run.element - first + i)] = run.stored + i;
  });
  return found;
}

TEST(ShorterTensor, VisitsCommonElements) {
  EXPECT_THAT(elements({3, 2}, {2, 2}, 0, 6), ElementsAre(0, 1, 2, 3, -1, -1));
  EXPECT_THAT(elements({2, 3}, {2, 2}, 0, 6), ElementsAre(0, 1, -1, 2, 3, -1));
  EXPECT_THAT(elements({2, 3}, {2, 2}, 1, 4), ElementsAre(1, -1, 2, 3));
  EXPECT_THAT(elements({2, 3}, {1, 2}, 0, 6), ElementsAre(0, 1, -1, -1, -1, -1));
  EXPECT_THAT(elements({2, 3}, {2, 3}, 2, 3), ElementsAre(2, 3, 4));
  EXPECT_THAT(elements({2, 2, 3}, {2, 1, 2}, 0, 12),
              ElementsAre(0, 1, -1, -1, -1, -1, 2, 3, -1, -1, -1, -1));
}

} // namespace
