// The elements of a tensor that a rank holds, as runs of consecutive elements of the complete
// tensor.
#include "base/layout/ShardLayout.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

using namespace titan;

namespace {

using Numbers = std::vector<int64_t>;

/// A tensor whose dimensions name the axes that shard them, by number.
struct Sharded {
  struct Dim {
    int64_t size;
    std::vector<int> axes;
    int64_t padding = 0;
  };
  std::vector<Dim> dims;
  std::vector<int> flatAxes = {};
  size_t flatFrom = 0;
  int headTail = -1; ///< the axis in head-tail order
};

TensorSharding makeSharding(const Sharded &tensor, const Numbers &degree,
                            const Numbers &coordinate) {
  auto getLevels = [&](const std::vector<int> &axes, bool isFlat) {
    std::vector<ShardLevel> levels;
    for (int axis : axes)
      levels.push_back(
          {degree[axis], coordinate[axis],
           axis == tensor.headTail && !isFlat ? ShardOrder::HeadTail : ShardOrder::Block});
    return levels;
  };
  TensorSharding sharding{{}, getLevels(tensor.flatAxes, true), tensor.flatFrom};
  for (const Sharded::Dim &dim : tensor.dims)
    sharding.dims.push_back({dim.size, getLevels(dim.axes, false), dim.padding});
  return sharding;
}

/// Global index of every local element; -1 for padding.
Numbers heldBy(const Sharded &tensor, const Numbers &degree, const Numbers &coordinate) {
  ShardLayout layout(makeSharding(tensor, degree, coordinate));
  Numbers held(layout.localElements(), -1);
  layout.forEachRun([&](const ShardRun &run) {
    for (int64_t i = 0; i < run.count; ++i) {
      EXPECT_EQ(held.at(run.local + i), -1) << "an element is visited twice";
      held.at(run.local + i) = run.global + i;
    }
  });
  EXPECT_EQ(held, layout.globalIndices());
  return held;
}

// A replicated tensor is a single run.
TEST(ShardLayout, Whole) {
  ShardLayout layout(makeSharding({{{3, {}}, {4, {}}}}, {2}, {1}));
  int runs = 0;
  layout.forEachRun([&](const ShardRun &run) {
    ++runs;
    EXPECT_EQ(run.count, 12);
  });
  EXPECT_EQ(runs, 1);
}

// A shard of any dimension is this rank's block.
TEST(ShardLayout, SplitDimensions) {
  Sharded rows{{{4, {0}}, {3, {}}}};
  EXPECT_EQ(heldBy(rows, {2}, {1}), (Numbers{6, 7, 8, 9, 10, 11}));
  Sharded columns{{{2, {}}, {6, {0}}}};
  EXPECT_EQ(heldBy(columns, {3}, {2}), (Numbers{4, 5, 10, 11}));
  Sharded middle{{{2, {}}, {2, {0}}, {2, {}}}};
  EXPECT_EQ(heldBy(middle, {2}, {1}), (Numbers{2, 3, 6, 7}));
  Sharded both{{{4, {0}}, {4, {1}}}};
  EXPECT_EQ(heldBy(both, {2, 2}, {1, 0}), (Numbers{8, 9, 12, 13}));
}

// Two axes on one dimension: the last one varies fastest.
TEST(ShardLayout, TwoAxesOnOneDimension) {
  Sharded info{{{8, {0, 1}}}};
  EXPECT_EQ(heldBy(info, {2, 2}, {1, 0}), (Numbers{4, 5}));
  Sharded swapped{{{8, {1, 0}}}};
  EXPECT_EQ(heldBy(swapped, {2, 2}, {1, 0}), (Numbers{2, 3}));
}

// Flat storage has equal chunks, the last one padded.
TEST(ShardLayout, Flat) {
  Sharded info{{{2, {}}, {5, {}}}, {0}, 0};
  EXPECT_EQ(heldBy(info, {4}, {0}), (Numbers{0, 1, 2}));
  EXPECT_EQ(heldBy(info, {4}, {3}), (Numbers{9, -1, -1}));
  Sharded perRow{{{2, {}}, {5, {}}}, {0}, 1};
  EXPECT_EQ(heldBy(perRow, {2}, {1}), (Numbers{3, 4, -1, 8, 9, -1}));
}

// If another axis shards the columns, their shard is flattened.
TEST(ShardLayout, FlatOverASplitTensor) {
  Sharded info{{{3, {}}, {4, {1}}}, {0}, 0};
  // Shard 1 of axis 1 is columns 2 and 3: 2 3 6 7 10 11; axis 0 shards these into chunks of three.
  EXPECT_EQ(heldBy(info, {2, 2}, {0, 1}), (Numbers{2, 3, 6}));
  EXPECT_EQ(heldBy(info, {2, 2}, {1, 1}), (Numbers{7, 10, 11}));
}

// Padding follows the last element of a dimension and belongs to no run. Global indices are those
// of the tensor without padding.
TEST(ShardLayout, PaddedDimensions) {
  Sharded columns{{{2, {}}, {6, {0}, 1}}};
  EXPECT_EQ(heldBy(columns, {2}, {0}), (Numbers{0, 1, 2, 5, 6, 7}));
  EXPECT_EQ(heldBy(columns, {2}, {1}), (Numbers{3, 4, -1, 8, 9, -1}));
  Sharded rows{{{4, {0}, 1}, {2, {}}}};
  EXPECT_EQ(heldBy(rows, {2}, {1}), (Numbers{4, 5, -1, -1}));
  // All elements of this rank are padding.
  Sharded beyond{{{2, {}}, {4, {0}, 2}}};
  EXPECT_EQ(heldBy(beyond, {2}, {0}), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(heldBy(beyond, {2}, {1}), (Numbers{-1, -1, -1, -1}));
  // The same without sharding and in flat storage.
  Sharded flat{{{2, {}}, {4, {}, 1}}, {0}, 0};
  EXPECT_EQ(heldBy(flat, {2}, {1}), (Numbers{3, 4, 5, -1}));
  Sharded perRow{{{2, {0}, 1}, {3, {}}}, {1}, 1};
  EXPECT_EQ(heldBy(perRow, {2, 2}, {1, 0}), (Numbers{-1, -1}));
  EXPECT_EQ(ShardLayout(makeSharding(columns, {2}, {0})).globalElements(), 10);
}

// In head-tail order a rank has two blocks of the dimension, in each row of it.
TEST(ShardLayout, HeadTail) {
  Sharded rows{{{8, {0}}, {2, {}}}, {}, 0, 0};
  EXPECT_EQ(heldBy(rows, {2}, {0}), (Numbers{0, 1, 2, 3, 12, 13, 14, 15}));
  EXPECT_EQ(heldBy(rows, {2}, {1}), (Numbers{4, 5, 6, 7, 8, 9, 10, 11}));
  Sharded columns{{{2, {}}, {4, {0}}}, {}, 0, 0};
  EXPECT_EQ(heldBy(columns, {2}, {0}), (Numbers{0, 3, 4, 7}));
  int runs = 0;
  ShardLayout(makeSharding(rows, {2}, {0})).forEachRun([&](const ShardRun &) { ++runs; });
  EXPECT_EQ(runs, 2);
}

/// The global indices of a shard by the definition: filter all elements of the tensor by the shard
/// of each dimension, flatten, pad and cut.
Numbers heldByDefinition(const TensorSharding &sharding) {
  struct Element {
    int64_t outer, index;
  };
  std::vector<Element> box{{0, 0}};
  const size_t from = sharding.flat.empty() ? 0 : sharding.flatFrom;
  for (size_t d = 0; d < sharding.dims.size(); ++d) {
    const TensorSharding::Dim &dim = sharding.dims[d];
    DimShard shard = getShard(dim);
    std::vector<Element> next;
    for (const Element &element : box)
      for (int64_t i = 0; i < shard.length; ++i) {
        const int64_t at = shard.toGlobal(i), size = dim.size - dim.padding;
        const bool isPadding = element.index < 0 || at >= size;
        next.push_back({d < from ? element.outer * shard.length + i : element.outer,
                        isPadding ? -1 : element.index * size + at});
      }
    box = next;
  }
  int64_t degree = 1, chunk = 0;
  for (const ShardLevel &level : sharding.flat) {
    chunk = chunk * level.degree + level.coordinate;
    degree *= level.degree;
  }
  Numbers held;
  for (size_t begin = 0; begin < box.size();) {
    size_t end = begin;
    while (end < box.size() && box[end].outer == box[begin].outer)
      ++end;
    const int64_t row = static_cast<int64_t>(end - begin), size = (row + degree - 1) / degree;
    for (int64_t i = chunk * size; i < (chunk + 1) * size; ++i)
      held.push_back(i < row ? box[begin + i].index : -1);
    begin = end;
  }
  return held;
}

// Runs agree with the definition, for many shapes, meshes and orders, and the shards of the ranks
// that differ along sharding axes contain every element exactly once.
TEST(ShardLayout, AgreesWithTheDefinition) {
  const std::vector<Sharded> tensors = {
      {{}},
      {{{12, {0, 2}}, {5, {}}}},
      {{{6, {}}, {4, {1}}, {3, {}}}, {0}, 0},
      {{{3, {}}, {5, {}}, {6, {2}}}, {0, 1}, 1},
      {{{3, {}}, {1, {}}}, {2, 0}, 1},
      {{{12, {0, 2}, 5}, {6, {}, 1}, {4, {1}, 1}}},
      {{{4, {1}, 2}, {6, {}, 5}, {6, {0}, 1}}, {2}, 1},
      {{{2, {1}}, {12, {2}}, {3, {}}}, {}, 0, 2},
      {{{24, {0, 2}}, {3, {}}}, {}, 0, 2},
      {{{24, {2, 0}}, {3, {}}}, {1}, 0, 2},
      {{{3, {}}, {24, {2, 0}}, {2, {}}}, {1}, 1, 2},
      {{{8, {0}, 3}, {4, {}}}, {}, 0, 0},
  };
  const Numbers degree{2, 2, 3};
  for (const Sharded &tensor : tensors) {
    std::set<int64_t> used(tensor.flatAxes.begin(), tensor.flatAxes.end());
    int64_t elements = 1;
    for (const Sharded::Dim &dim : tensor.dims) {
      used.insert(dim.axes.begin(), dim.axes.end());
      elements *= dim.size - dim.padding;
    }
    std::multiset<int64_t> all;
    for (int64_t rank = 0; rank < 12; ++rank) {
      const Numbers coordinate{rank / 6, rank / 3 % 2, rank % 3};
      const Numbers held = heldBy(tensor, degree, coordinate);
      EXPECT_EQ(held, heldByDefinition(makeSharding(tensor, degree, coordinate)));
      bool isFirst = true;
      for (int axis = 0; axis < 3; ++axis)
        isFirst &= used.count(axis) || coordinate[axis] == 0;
      for (int64_t index : held)
        if (isFirst && index >= 0)
          all.insert(index);
    }
    EXPECT_EQ(all.size(), static_cast<size_t>(elements));
    EXPECT_EQ(std::set<int64_t>(all.begin(), all.end()).size(), all.size());
  }
}

} // namespace
