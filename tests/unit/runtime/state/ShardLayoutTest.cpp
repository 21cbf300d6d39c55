#include "state/ShardLayout.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

using Numbers = std::vector<int64_t>;

TensorInfo tensor(std::vector<Dim> dims, std::vector<int> flatAxes = {}, int flatFrom = 0) {
  return {DType::F32, std::move(dims), std::move(flatAxes), flatFrom};
}

/// Global index of every local element; -1 for padding.
Numbers heldBy(const TensorInfo &info, const Numbers &degree, const Numbers &coordinate) {
  ShardLayout layout(info, degree, coordinate);
  Numbers held(layout.localElements(), -1);
  layout.forEachRun([&](const titan::rt::ShardRun &run) {
    for (int64_t i = 0; i < run.count; ++i) {
      EXPECT_EQ(held.at(run.local + i), -1) << "an element is visited twice";
      held.at(run.local + i) = run.global + i;
    }
  });
  return held;
}

// A replicated tensor is a single run.
TEST(ShardLayout, Whole) {
  TensorInfo info = tensor({{"a", 3, {}}, {"b", 4, {}}});
  ShardLayout layout(info, Numbers{2}, Numbers{1});
  int runs = 0;
  layout.forEachRun([&](const titan::rt::ShardRun &run) {
    ++runs;
    EXPECT_EQ(run.count, 12);
  });
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(layout.isWriter()) << "rank 0 of the axis holds the same and writes it";
  EXPECT_TRUE(ShardLayout(info, Numbers{2}, Numbers{0}).isWriter());
}

// Ranks have equal shards if they differ only on axes that do not shard the tensor.
TEST(ShardLayout, Shards) {
  TensorInfo info = tensor({{"a", 4, {0}}, {"b", 4, {}}}, {2}, 1);
  std::map<Numbers, std::set<int64_t>> shards;
  for (int64_t a : {0, 1})
    for (int64_t b : {0, 1, 2})
      for (int64_t c : {0, 1})
        shards[heldBy(info, {2, 3, 2}, {a, b, c})].insert(
            ShardLayout(info, Numbers{2, 3, 2}, Numbers{a, b, c}).shardIndex());
  std::set<int64_t> all;
  for (const auto &[held, numbers] : shards) {
    EXPECT_EQ(numbers.size(), 1u);
    all.merge(std::set(numbers));
  }
  EXPECT_EQ(shards.size(), 4u);
  EXPECT_EQ(all.size(), 4u);
}

// A shard of any dimension is this rank's block.
TEST(ShardLayout, SplitDimensions) {
  TensorInfo rows = tensor({{"a", 4, {0}}, {"b", 3, {}}});
  EXPECT_EQ(heldBy(rows, {2}, {1}), (Numbers{6, 7, 8, 9, 10, 11}));
  TensorInfo columns = tensor({{"a", 2, {}}, {"b", 6, {0}}});
  EXPECT_EQ(heldBy(columns, {3}, {2}), (Numbers{4, 5, 10, 11}));
  TensorInfo middle = tensor({{"a", 2, {}}, {"b", 2, {0}}, {"c", 2, {}}});
  EXPECT_EQ(heldBy(middle, {2}, {1}), (Numbers{2, 3, 6, 7}));
  TensorInfo both = tensor({{"a", 4, {0}}, {"b", 4, {1}}});
  EXPECT_EQ(heldBy(both, {2, 2}, {1, 0}), (Numbers{8, 9, 12, 13}));
}

// Two axes on one dimension: the last one varies fastest.
TEST(ShardLayout, TwoAxesOnOneDimension) {
  TensorInfo info = tensor({{"a", 8, {0, 1}}});
  EXPECT_EQ(heldBy(info, {2, 2}, {1, 0}), (Numbers{4, 5}));
  TensorInfo swapped = tensor({{"a", 8, {1, 0}}});
  EXPECT_EQ(heldBy(swapped, {2, 2}, {1, 0}), (Numbers{2, 3}));
}

// Flat storage has equal chunks, the last one padded.
TEST(ShardLayout, Flat) {
  TensorInfo info = tensor({{"a", 2, {}}, {"b", 5, {}}}, {0}, 0);
  EXPECT_EQ(heldBy(info, {4}, {0}), (Numbers{0, 1, 2}));
  EXPECT_EQ(heldBy(info, {4}, {3}), (Numbers{9, -1, -1}));
  TensorInfo perRow = tensor({{"a", 2, {}}, {"b", 5, {}}}, {0}, 1);
  EXPECT_EQ(heldBy(perRow, {2}, {1}), (Numbers{3, 4, -1, 8, 9, -1}));
}

// If another axis shards the columns, their shard is flattened.
TEST(ShardLayout, FlatOverASplitTensor) {
  TensorInfo info = tensor({{"a", 3, {}}, {"b", 4, {1}}}, {0}, 0);
  // Shard 1 of axis 1 is columns 2 and 3: 2 3 6 7 10 11; axis 0 shards these into chunks of three.
  EXPECT_EQ(heldBy(info, {2, 2}, {0, 1}), (Numbers{2, 3, 6}));
  EXPECT_EQ(heldBy(info, {2, 2}, {1, 1}), (Numbers{7, 10, 11}));
}

// Padding follows the last element of a dimension and belongs to no run. Global indices are those
// of the tensor without padding.
TEST(ShardLayout, PaddedDimensions) {
  TensorInfo columns = tensor({{"a", 2, {}}, {"b", 6, {0}, 1}});
  EXPECT_EQ(heldBy(columns, {2}, {0}), (Numbers{0, 1, 2, 5, 6, 7}));
  EXPECT_EQ(heldBy(columns, {2}, {1}), (Numbers{3, 4, -1, 8, 9, -1}));
  TensorInfo rows = tensor({{"a", 4, {0}, 1}, {"b", 2, {}}});
  EXPECT_EQ(heldBy(rows, {2}, {1}), (Numbers{4, 5, -1, -1}));
  // All elements of this rank are padding.
  TensorInfo beyond = tensor({{"a", 2, {}}, {"b", 4, {0}, 2}});
  EXPECT_EQ(heldBy(beyond, {2}, {0}), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(heldBy(beyond, {2}, {1}), (Numbers{-1, -1, -1, -1}));
  // The same without sharding and in flat storage.
  TensorInfo flat = tensor({{"a", 2, {}}, {"b", 4, {}, 1}}, {0}, 0);
  EXPECT_EQ(heldBy(flat, {2}, {1}), (Numbers{3, 4, 5, -1}));
  TensorInfo perRow = tensor({{"a", 2, {0}, 1}, {"b", 3, {}}}, {1}, 1);
  EXPECT_EQ(heldBy(perRow, {2, 2}, {1, 0}), (Numbers{-1, -1}));
  EXPECT_EQ(ShardLayout(columns, Numbers{2}, Numbers{0}).globalElements(), 10);
}

// The writers' shards contain every element exactly once, for many shapes and meshes.
TEST(ShardLayout, WritersCoverTheTensorOnce) {
  std::vector<TensorInfo> infos = {
      tensor({}),
      tensor({{"a", 12, {0, 2}}, {"b", 5, {}}}),
      tensor({{"a", 6, {}}, {"b", 4, {1}}, {"c", 3, {}}}, {0}, 0),
      tensor({{"l", 3, {}}, {"a", 5, {}}, {"b", 4, {2}}}, {0, 1}, 1),
      tensor({{"l", 3, {}}, {"a", 1, {}}}, {2, 0}, 1),
      tensor({{"a", 12, {0, 2}, 5}, {"b", 6, {}, 1}, {"c", 4, {1}, 1}}),
      tensor({{"a", 4, {1}, 2}, {"b", 6, {}, 5}, {"c", 6, {0}, 1}}, {2}, 1),
  };
  Numbers degree{2, 2, 3};
  infos[3].dims[2].size = 6;
  for (const TensorInfo &info : infos) {
    std::multiset<int64_t> written;
    int64_t elements = 1;
    for (const Dim &dim : info.dims)
      elements *= dim.size - dim.padding;
    for (int64_t rank = 0; rank < 12; ++rank) {
      Numbers coordinate{rank / 6, rank / 3 % 2, rank % 3};
      if (!ShardLayout(info, degree, coordinate).isWriter())
        continue;
      for (int64_t index : heldBy(info, degree, coordinate))
        if (index >= 0)
          written.insert(index);
    }
    EXPECT_EQ(written.size(), static_cast<size_t>(elements));
    EXPECT_EQ(std::set<int64_t>(written.begin(), written.end()).size(), written.size());
    if (!written.empty()) {
      EXPECT_EQ(*written.rbegin(), elements - 1);
    }
  }
}

// A slot of a stacked tensor has the same storage without the leading dimension, and its own name.
TEST(ShardLayout, Layers) {
  TensorInfo stacked = tensor({{"layers", 6, {}}, {"a", 5, {}}}, {0}, 1);
  TensorInfo layer = layerInfo(stacked);
  EXPECT_EQ(layer.dims.size(), 1u);
  EXPECT_EQ(layer.flatFrom, 0);
  const int64_t three[] = {3}, both[] = {1, 3};
  Tensor named{Role::Parameter, "", stacked, 0};
  auto nameOf = [&](const char *name, std::span<const int64_t> iterations) {
    named.name = name;
    return layerName(named, iterations);
  };
  EXPECT_EQ(nameOf("layers.wq", three), "layers.3.wq");
  EXPECT_EQ(nameOf("layers.attn.wq", three), "layers.3.attn.wq");
  EXPECT_EQ(nameOf("outer.inner.wq", both), "outer.1.inner.3.wq");
  named.repeatSegments = {1, 3};
  EXPECT_EQ(nameOf("teacher.outer.attn.inner.wq", both), "teacher.outer.1.attn.inner.3.wq");
  named.role = Role::State;
  EXPECT_EQ(nameOf("m.teacher.outer.attn.inner.wq", both), "m.teacher.outer.1.attn.inner.3.wq");
  named.repeatSegments = {};
  EXPECT_EQ(nameOf("m.layers.wq", three), "m.layers.3.wq");
  EXPECT_EQ(nameOf("m.outer.inner.attn.wq", both), "m.outer.1.inner.3.attn.wq");
}

// The error names the indivisible dimension and its axes.
TEST(ShardLayout, CheckDivisible) {
  std::vector<Axis> mesh{{"shard", 0}, {"tp", 2}};
  TensorInfo info = tensor({{"batch", 8, {0}}, {"seq", 16, {1}}});
  EXPECT_EQ(checkDivisible(info, mesh, Numbers{4, 2}), "");
  EXPECT_EQ(checkDivisible(info, mesh, Numbers{3, 2}),
            "batch = 8 cannot be split evenly by shard = 3");
}

} // namespace
