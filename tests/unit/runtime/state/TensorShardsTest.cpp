// The shard of a tensor that each rank holds, the rank that writes it, and names of layers.
#include "state/TensorShards.h"

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
Numbers listGlobalIndices(const TensorInfo &info, const Numbers &degree,
                          const Numbers &coordinate) {
  return ShardLayout(makeSharding(info, degree, coordinate)).globalIndices();
}

// Of the ranks with equal shards, the first one along the other axes writes.
TEST(TensorShards, Writers) {
  TensorInfo info = tensor({{"a", 4, {1}}, {"b", 4, {}}});
  EXPECT_TRUE(isShardWriter(info, Numbers{0, 1}));
  EXPECT_FALSE(isShardWriter(info, Numbers{1, 1}));
}

// Ranks have equal shards if they differ only on axes that do not shard the tensor.
TEST(TensorShards, Shards) {
  TensorInfo info = tensor({{"a", 4, {0}}, {"b", 4, {}}}, {2}, 1);
  std::map<Numbers, std::set<int64_t>> shards;
  for (int64_t a : {0, 1})
    for (int64_t b : {0, 1, 2})
      for (int64_t c : {0, 1})
        shards[listGlobalIndices(info, {2, 3, 2}, {a, b, c})].insert(
            getShardIndex(info, Numbers{2, 3, 2}, Numbers{a, b, c}));
  std::set<int64_t> all;
  for (const auto &[held, numbers] : shards) {
    EXPECT_EQ(numbers.size(), 1u);
    all.merge(std::set(numbers));
  }
  EXPECT_EQ(shards.size(), 4u);
  EXPECT_EQ(all.size(), 4u);
}

// Over an axis in head-tail order, a rank has a block from each end of the dimension.
TEST(TensorShards, HeadTail) {
  TensorInfo info = tensor({{"seq", 8, {0}, 0, 0}, {"x", 2, {}}});
  EXPECT_EQ(listGlobalIndices(info, {2}, {0}), (Numbers{0, 1, 2, 3, 12, 13, 14, 15}));
  TensorInfo inner = tensor({{"seq", 8, {1, 0}, 0, 1}});
  EXPECT_EQ(listGlobalIndices(inner, {2, 2}, {0, 0}), (Numbers{0, 1}));
  EXPECT_EQ(listGlobalIndices(inner, {2, 2}, {1, 0}), (Numbers{6, 7}));
}

// The writers' shards contain every element exactly once, for many shapes and meshes.
TEST(TensorShards, WritersCoverTheTensorOnce) {
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
      if (!isShardWriter(info, coordinate))
        continue;
      for (int64_t index : listGlobalIndices(info, degree, coordinate))
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
TEST(TensorShards, Layers) {
  TensorInfo stacked = tensor({{"layers", 6, {}}, {"a", 5, {}}}, {0}, 1);
  TensorInfo layer = layerInfo(stacked);
  EXPECT_EQ(layer.dims.size(), 1u);
  EXPECT_EQ(layer.flatFrom, 0);
  const int64_t three[] = {3}, both[] = {1, 3};
  Tensor named{Role::Parameter, "", stacked, 0};
  auto getName = [&](const char *name, std::span<const int64_t> iterations) {
    named.name = name;
    return layerName(named, iterations);
  };
  EXPECT_EQ(getName("layers.wq", three), "layers.3.wq");
  EXPECT_EQ(getName("layers.attn.wq", three), "layers.3.attn.wq");
  EXPECT_EQ(getName("outer.inner.wq", both), "outer.1.inner.3.wq");
  named.repeatSegments = {1, 3};
  EXPECT_EQ(getName("teacher.outer.attn.inner.wq", both), "teacher.outer.1.attn.inner.3.wq");
  named.role = Role::State;
  EXPECT_EQ(getName("m.teacher.outer.attn.inner.wq", both), "m.teacher.outer.1.attn.inner.3.wq");
  named.repeatSegments = {};
  EXPECT_EQ(getName("m.layers.wq", three), "m.layers.3.wq");
  EXPECT_EQ(getName("m.outer.inner.attn.wq", both), "m.outer.1.inner.3.attn.wq");
}

// The error names the indivisible dimension and its axes.
TEST(TensorShards, CheckDivisible) {
  std::vector<Axis> mesh{{"shard", 0}, {"tp", 2}};
  TensorInfo info = tensor({{"batch", 8, {0}}, {"seq", 16, {1}}});
  EXPECT_EQ(checkDivisible(info, mesh, Numbers{4, 2}), "");
  EXPECT_EQ(checkDivisible(info, mesh, Numbers{3, 2}),
            "batch = 8 cannot be split evenly by shard = 3");
}

} // namespace
