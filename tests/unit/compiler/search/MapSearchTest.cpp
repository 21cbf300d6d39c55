#include "compiler/search/MapSearch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace titan::search;

namespace {

int64_t getProduct(const std::vector<int64_t> &degrees) {
  return std::accumulate(degrees.begin(), degrees.end(), int64_t{1}, std::multiplies<>());
}

TEST(MapSearch, StartsWithTheDegreesOfTheFile) {
  EXPECT_EQ(makeStarts({4, 2}, 8, 1), (std::vector<Point>{{{4, 2}, {0}}}));
}

TEST(MapSearch, StartsWithTheMissingFactorOnEachAxis) {
  EXPECT_EQ(makeStarts({2, 2}, 12, 0),
            (std::vector<Point>{{{6, 2}, {}}, {{6, 2}, {}}, {{2, 6}, {}}}));
  EXPECT_EQ(makeStarts({8, 3}, 4, 0), (std::vector<Point>{{{4, 1}, {}}}));
  EXPECT_EQ(makeStarts({1, 1, 1}, 512, 0).front().degrees, (std::vector<int64_t>{8, 8, 8}));
  for (const Point &start : makeStarts({6, 5, 7}, 42, 0))
    EXPECT_EQ(getProduct(start.degrees), 42);
}

TEST(MapSearch, AMapWithoutAxesHasNoPoint) {
  EXPECT_TRUE(makeStarts({}, 4, 2).empty());
  EXPECT_TRUE(findBest({}, {}, [](const Point &) { return Outcome{}; }).empty());
}

TEST(MapSearch, FindsTheBestDegrees) {
  // Best for degrees 4 x 16 x 8.
  auto evaluate = [](const Point &point) {
    const double wanted[] = {2, 4, 3};
    Outcome outcome;
    for (size_t i = 0; i < 3; ++i)
      outcome.seconds += std::pow(std::log2(static_cast<double>(point.degrees[i])) - wanted[i], 2);
    return outcome;
  };
  const auto results = findBest(makeStarts({1, 1, 1}, 512, 0), {}, evaluate);
  EXPECT_EQ(results.front().point.degrees, (std::vector<int64_t>{4, 16, 8}));
  for (const Result &result : results)
    EXPECT_EQ(getProduct(result.point.degrees), 512);
}

TEST(MapSearch, ChoosesTheSettings) {
  auto evaluate = [](const Point &point) {
    return Outcome{"", std::abs(static_cast<double>(point.values[0]) - 3), 0};
  };
  const auto results = findBest({{{1}, {0}}}, {6}, evaluate);
  EXPECT_EQ(results.front().point.values, std::vector<size_t>{3});
}

TEST(MapSearch, FindsWhatFits) {
  // Time rises with the degree, memory falls.
  auto evaluate = [](const Point &point) {
    const auto degree = static_cast<double>(point.degrees[1]);
    return Outcome{"", degree, 8 / degree};
  };
  const auto results = findBest(makeStarts({64, 1}, 64, 0), {}, evaluate);
  EXPECT_EQ(results.front().point.degrees, (std::vector<int64_t>{8, 8}));
}

TEST(MapSearch, RefusedPointsAreLast) {
  auto evaluate = [](const Point &point) {
    return point.degrees[0] > 2 ? Outcome{"too large", 0, 0} : Outcome{"", 1, 2};
  };
  const auto results = findBest(makeStarts({1, 8}, 8, 0), {}, evaluate);
  EXPECT_TRUE(results.front().outcome.refusal.empty());
  EXPECT_FALSE(results.back().outcome.refusal.empty());
}

TEST(MapSearch, EvaluatesEachPointOnceAndFewPoints) {
  size_t count = 0;
  auto evaluate = [&](const Point &) { return Outcome{"", static_cast<double>(++count), 0}; };
  const auto results = findBest(makeStarts({1, 1, 1, 1}, 4096, 0), {}, evaluate, {50, 4});
  EXPECT_EQ(count, results.size());
  EXPECT_LE(count, 50U);
}

} // namespace
