#include "base/weights/StridedLayout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

using namespace titan;
using testing::ElementsAre;
using testing::Pair;

namespace {

/// (tensor, stored element) of one element of the parameter, from the definition.
std::pair<int64_t, int64_t> locate(const StoredParameter &stored, int64_t element) {
  int64_t tensor = 0, tensors = 1, at = stored.start;
  for (size_t i = stored.sizes.size(); i-- > 0; element /= stored.sizes[i]) {
    const int64_t index = element % stored.sizes[i];
    at += index * stored.strides[i];
    if (stored.strides[i] == 0) {
      tensor += index * tensors;
      tensors *= stored.sizes[i];
    }
  }
  return {tensor, at};
}

/// The found of elements [first, first + count), as the layout visits them.
std::map<int64_t, std::pair<int64_t, int64_t>> visit(const StridedLayout &layout, int64_t first,
                                                     int64_t count) {
  std::map<int64_t, std::pair<int64_t, int64_t>> found;
  layout.forEachRun(first, count, [&](const StridedRun &run) {
    EXPECT_TRUE(run.elementStride == 1 || run.storedStride == 1);
    for (int64_t i = 0; i < run.count; ++i) {
      const bool isNew = found
                             .try_emplace(run.element + i * run.elementStride, run.tensor,
                                          run.stored + i * run.storedStride)
                             .second;
      EXPECT_TRUE(isNew) << "element " << run.element + i * run.elementStride << " twice";
    }
  });
  return found;
}

void expectElements(const StoredParameter &stored, int64_t first, int64_t count) {
  const auto found = visit(StridedLayout(stored), first, count);
  EXPECT_EQ(static_cast<int64_t>(found.size()), count);
  for (int64_t element = first; element < first + count; ++element)
    EXPECT_EQ(found.at(element), locate(stored, element)) << "element " << element;
}

const StoredParameter transposed{"w", "w.weight", {6, 4}, 0, {4, 6}, {1, 4}};

TEST(StridedLayout, TransposesAMatrix) {
  expectElements(transposed, 0, 24);
  expectElements(transposed, 5, 15); // factor of a row, rows, factor of a row
  expectElements(transposed, 7, 3);
  expectElements(transposed, 7, 0);
}

TEST(StridedLayout, JoinsFactorsThatAreContiguous) {
  const StoredParameter stored{"w", "w.weight", {2, 3, 4}, 0, {2, 3, 4}, {12, 4, 1}};
  int runs = 0;
  StridedLayout(stored).forEachRun(0, 24, [&](const StridedRun &run) {
    EXPECT_EQ(run.count, 24);
    ++runs;
  });
  EXPECT_EQ(runs, 1);
}

TEST(StridedLayout, ReadsRotaryPairsFromHalves) {
  // wq[embed 2, heads 2, pair 2, half 2] from [(heads, half, pair), embed]
  const StoredParameter stored{"wq", "q.weight", {8, 2}, 0, {2, 2, 2, 2}, {1, 8, 2, 4}};
  expectElements(stored, 0, 16);
  EXPECT_EQ(locate(stored, 1), std::pair(int64_t{0}, int64_t{4})); // half 1 of pair 0
}

TEST(StridedLayout, SelectsTensorsByIndices) {
  const StoredParameter stored{"experts", "e.{1}.w", {3, 2}, 0, {4, 2, 3}, {0, 1, 2}};
  const StridedLayout layout(stored);
  EXPECT_EQ(layout.countTensors(), 4);
  EXPECT_THAT(layout.elementsOf(2), Pair(12, 18));
  expectElements(stored, 0, 24);
  expectElements(stored, 7, 9);
}

TEST(StridedLayout, RandomLayouts) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const size_t rank = 1 + random() % 4;
    StoredParameter stored{"w", "w", {}, static_cast<int64_t>(random() % 3), {}, {}};
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    for (size_t i = 0; i < rank; ++i)
      stored.sizes.push_back(1 + static_cast<int64_t>(random() % 5));
    stored.strides.resize(rank);
    int64_t stride = 1, elements = 1;
    for (size_t i : order) {
      const bool isName = random() % 4 == 0;
      stored.strides[i] = isName ? 0 : stride;
      stride *= isName ? 1 : stored.sizes[i];
      elements *= stored.sizes[i];
    }
    const int64_t first = static_cast<int64_t>(random()) % elements;
    expectElements(stored, first, static_cast<int64_t>(random()) % (elements - first + 1));
  }
}

TEST(NameOfTensor, NumbersRepeatsThenFactors) {
  const StoredParameter stored{
      "layers.w", "model.layers.{0+3}.experts.{1}.w1.weight", {2, 3}, 0, {4, 3, 2}, {0, 1, 3}};
  EXPECT_EQ(nameOfTensor(stored, std::vector<int64_t>{5}, 2), "model.layers.8.experts.2.w1.weight");
}

} // namespace
