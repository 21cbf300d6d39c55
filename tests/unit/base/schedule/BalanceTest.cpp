// The distribution of layers over stages.

#include "base/schedule/Balance.h"

#include "gmock/gmock.h"

#include <algorithm>
#include <random>

using namespace titan::schedule;
using testing::ElementsAre;

namespace {

LayerTimes equalLayers(size_t count) {
  return {std::vector<double>(count, 1.0)};
}

// 1F1B keeps the residuals of most microbatches on the first stage.
TEST(DistributeLayers, SparesStagesWithManySlots) {
  EXPECT_THAT(distributeLayers(equalLayers(6), {4, 3, 2, 1}), ElementsAre(1, 1, 2, 2));
}

TEST(DistributeLayers, FillsTheFirstStagesIfAllAreEqual) {
  EXPECT_THAT(distributeLayers(equalLayers(6), {8, 8, 8, 8}), ElementsAre(2, 2, 1, 1));
  EXPECT_THAT(distributeLayers(equalLayers(4), {1, 1, 1, 1}), ElementsAre(1, 1, 1, 1));
}

// A head as costly as two layers and a half.
TEST(DistributeLayers, WeighsOperationsAroundTheLayers) {
  LayerTimes times = equalLayers(32);
  times.after = 2.5;
  EXPECT_THAT(distributeLayers(times, {4, 3, 2, 1}), ElementsAre(8, 9, 9, 6));
  times.before = 1;
  EXPECT_THAT(distributeLayers(times, {4, 3, 2, 1}), ElementsAre(8, 9, 9, 6));
}

TEST(DistributeLayers, WeighsLayersThatDiffer) {
  EXPECT_THAT(distributeLayers({{4, 1, 1, 1, 1}}, {1, 1}), ElementsAre(1, 4));
  EXPECT_THAT(distributeLayers({{1, 1, 1, 1, 4}}, {1, 1}), ElementsAre(4, 1));
}

/// Visits all distributions that begin with `counts`.
template <typename Visit>
void visitDistributions(std::vector<int64_t> &counts, size_t stages, int64_t layers,
                        const Visit &visit) {
  if (counts.size() + 1 == stages) {
    counts.push_back(layers);
    visit(counts);
    counts.pop_back();
    return;
  }
  const int64_t behind = static_cast<int64_t>(stages - counts.size()) - 1;
  for (int64_t count = 1; count <= layers - behind; ++count) {
    counts.push_back(count);
    visitDistributions(counts, stages, layers - count, visit);
    counts.pop_back();
  }
}

/// The largest time and the largest memory of a stage.
std::pair<double, double> findLargest(const std::vector<int64_t> &counts, const LayerTimes &times,
                                      const std::vector<int> &slots) {
  std::pair<double, double> largest{0, 0};
  size_t layer = 0;
  for (size_t stage = 0; stage < counts.size(); ++stage) {
    double time = (stage == 0 ? times.before : 0) + (stage + 1 == counts.size() ? times.after : 0);
    for (int64_t i = 0; i < counts[stage]; ++i)
      time += times.layers[layer++];
    largest = {std::max(largest.first, time),
               std::max(largest.second, double(slots[stage]) * double(counts[stage]))};
  }
  return largest;
}

TEST(DistributeLayers, IsBestOfAll) {
  std::mt19937 random(7);
  auto draw = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int round = 0; round < 300; ++round) {
    const size_t stages = 1 + static_cast<size_t>(draw(5));
    LayerTimes times{{}, double(draw(4)), double(draw(6))};
    for (size_t i = stages + static_cast<size_t>(draw(6)); i > 0; --i)
      times.layers.push_back(1 + draw(3));
    std::vector<int> slots;
    for (size_t i = 0; i < stages; ++i)
      slots.push_back(1 + draw(4));
    std::pair<double, double> best{1e9, 1e9};
    std::vector<int64_t> counts;
    visitDistributions(counts, stages, static_cast<int64_t>(times.layers.size()),
                       [&](const std::vector<int64_t> &one) {
                         best = std::min(best, findLargest(one, times, slots));
                       });
    EXPECT_EQ(findLargest(distributeLayers(times, slots), times, slots), best);
  }
}

} // namespace
