// The blocks in which the elements of a parameter are read from stored tensors.
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

using Found = std::map<int64_t, std::pair<int64_t, int64_t>>;

/// The stored elements by their offset in the memory of the rows, as the layout visits them.
Found visit(const StridedLayout &layout, const ElementRows &rows) {
  Found found;
  layout.forEachBlock(rows, [&](const StridedBlock &block) {
    const int64_t width = std::ssize(block.columns);
    EXPECT_TRUE(block.localStride == 1 || block.storedStride == 1);
    EXPECT_TRUE(width == 1 || block.storedStride == 1);
    EXPECT_LE(width, StridedLayout::maxColumns);
    for (int64_t i = 0; i < block.count; ++i)
      for (int64_t j = 0; j < width; ++j) {
        const int64_t local = block.local + i * block.localStride + j;
        const int64_t stored =
            block.stored + block.columns[static_cast<size_t>(j)] + i * block.storedStride;
        EXPECT_TRUE(found.try_emplace(local, block.tensor, stored).second) << local << " twice";
      }
  });
  return found;
}

void expectRows(const StoredParameter &stored, const ElementRows &rows) {
  const StridedLayout layout(stored);
  Found expected, segments;
  for (int64_t i = 0; i < rows.rows; ++i)
    for (int64_t j = 0; j < rows.columns; ++j)
      expected[rows.local + i * rows.localPitch + j] =
          locate(stored, rows.first + i * rows.pitch + j);
  EXPECT_EQ(visit(layout, rows), expected);
  layout.forEachSegment(
      rows, [&](const ElementRows &segment) { segments.merge(visit(layout, segment)); });
  EXPECT_EQ(segments, expected);
}

void expectElements(const StoredParameter &stored, int64_t first, int64_t count) {
  expectRows(stored, {.first = first, .columns = count, .local = 3});
}

const StoredParameter transposed{"w", "w.weight", {6, 4}, 0, {4, 6}, {1, 4}};

TEST(StridedLayout, TransposesAMatrix) {
  expectElements(transposed, 0, 24);
  expectElements(transposed, 5, 15); // factor of a row, rows, factor of a row
  expectElements(transposed, 7, 3);
  expectElements(transposed, 7, 0);
}

TEST(StridedLayout, TransposesColumnsOfARank) {
  expectRows(transposed, {1, 2, 6, 4, 0, 2});
  expectRows(transposed, {4 + 2, 2, 3, 4, 5, 7});
  expectRows(transposed, {1, 2, 3, 8, 0, 2}); // every second row
  expectRows(transposed, {3, 3, 2, 4, 0, 3}); // across the ends of rows
}

// Larger than a block, and than a segment, in both directions.
TEST(StridedLayout, CutsLargeMatrices) {
  constexpr int64_t in = 4100, out = 515;
  const StoredParameter stored{"w", "w.weight", {out, in}, 0, {in, out}, {1, in}};
  int segments = 0, blocks = 0;
  StridedLayout(stored).forEachSegment({0, in * out}, [&](const ElementRows &) { ++segments; });
  StridedLayout(stored).forEachBlock({0, in * out}, [&](const StridedBlock &) { ++blocks; });
  EXPECT_EQ(segments, 4);
  EXPECT_EQ(blocks, 4);
  expectElements(stored, 4090 * out + 7, 9 * out);
}

TEST(StridedLayout, JoinsFactorsThatAreContiguous) {
  const StoredParameter stored{"w", "w.weight", {2, 3, 4}, 0, {2, 3, 4}, {12, 4, 1}};
  int blocks = 0;
  StridedLayout(stored).forEachBlock({0, 24}, [&](const StridedBlock &block) {
    EXPECT_EQ(block.count, 24);
    ++blocks;
  });
  EXPECT_EQ(blocks, 1);
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
  EXPECT_THAT(layout.getElementRange(2), Pair(12, 18));
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
    const int64_t pitch = 1 + static_cast<int64_t>(random() % 12);
    const int64_t columns = 1 + static_cast<int64_t>(random()) % pitch;
    if (first + columns <= elements)
      expectRows(stored, {first, columns, 1 + (elements - first - columns) / pitch, pitch, 2,
                          columns + static_cast<int64_t>(random() % 3)});
  }
}

TEST(NameOfTensor, NumbersRepeatsThenFactors) {
  const StoredParameter stored{
      "layers.w", "model.layers.{0+3}.experts.{1}.w1.weight", {2, 3}, 0, {4, 3, 2}, {0, 1, 3}};
  EXPECT_EQ(makeTensorName(stored, std::vector<int64_t>{5}, 2),
            "model.layers.8.experts.2.w1.weight");
}

} // namespace
