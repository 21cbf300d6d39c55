#include "base/layout/ShardLayout.h"

#include <algorithm>

namespace titan {

namespace {

int64_t computeDegree(const std::vector<ShardLevel> &levels) {
  int64_t degree = 1;
  for (const ShardLevel &level : levels)
    degree *= level.degree;
  return degree;
}

} // namespace

DimShard getShard(const TensorSharding::Dim &dim, int64_t back) {
  return getShard(dim.size, dim.levels.data(), static_cast<int>(dim.levels.size()), back);
}

ShardLayout::ShardLayout(const TensorSharding &sharding)
    : flatFrom(sharding.flat.empty() ? 0 : sharding.flatFrom) {
  for (const TensorSharding::Dim &dim : sharding.dims)
    dims.push_back({getShard(dim), dim.size - dim.padding});
  bool isWhole = true;
  for (size_t d = dims.size(); d-- > 0;) {
    Dim &dim = dims[d];
    int64_t &below = d < flatFrom ? outerCount : innerCount;
    dim.below = below;
    dim.globalBelow = globalCount;
    dim.isRun = isWhole;
    below *= dim.shard.length;
    globalCount *= dim.size;
    isWhole &= dim.shard == DimShard::whole(dim.size);
  }
  const int64_t degree = computeDegree(sharding.flat);
  chunk = (innerCount + degree - 1) / degree;
  chunkStart = getShard({chunk * degree, sharding.flat}).start;
}

void ShardLayout::forEachRun(const Visit &visit) const {
  visitOuter(0, 0, 0, visit);
}

/// Visits the elements of the shard with one fixed index in each dimension before `d`. `local` is
/// the row-major number of this index in the shard, `global` the first such element of the tensor.
/// `d` is at most `flatFrom`.
void ShardLayout::visitOuter(size_t d, int64_t local, int64_t global, const Visit &visit) const {
  if (d == flatFrom)
    return visitInner(d, local * chunk - chunkStart, global,
                      {chunkStart, std::min(innerCount, chunkStart + chunk)}, visit);
  const Dim &dim = dims[d];
  for (int64_t i = 0; i < dim.shard.length; ++i)
    if (int64_t index = dim.shard.toGlobal(i); index < dim.size)
      visitOuter(d + 1, local * dim.shard.length + i, global + index * dim.globalBelow, visit);
}

/// Visits the positions of `range` in the box of the dimensions from `d` on. Position 0 is element
/// `local` of the shard; the box begins at element `global` of the tensor.
void ShardLayout::visitInner(size_t d, int64_t local, int64_t global, Range range,
                             const Visit &visit) const {
  if (d == dims.size()) {
    if (range.from < range.to)
      visit({local + range.from, global, range.to - range.from});
    return;
  }
  const Dim &dim = dims[d];
  for (int k = 0; k < dim.shard.intervalCount(); ++k) {
    const auto [start, length] = dim.shard.interval(k);
    const int64_t begin = k == 0 ? 0 : dim.shard.split;
    const int64_t end = begin + std::clamp<int64_t>(dim.size - start, 0, length);
    if (dim.isRun) {
      const int64_t from = std::max(range.from, begin * dim.below);
      const int64_t to = std::min(range.to, end * dim.below);
      if (from < to)
        visit({local + from, global + (start - begin) * dim.below + from, to - from});
      continue;
    }
    const int64_t last = std::min(end, (range.to + dim.below - 1) / dim.below);
    for (int64_t i = std::max(begin, range.from / dim.below); i < last; ++i) {
      const int64_t at = i * dim.below;
      visitInner(d + 1, local + at, global + (start + i - begin) * dim.globalBelow,
                 {std::max<int64_t>(0, range.from - at), std::min(dim.below, range.to - at)},
                 visit);
    }
  }
}

std::vector<int64_t> ShardLayout::globalIndices() const {
  std::vector<int64_t> indices(static_cast<size_t>(localElements()), -1);
  forEachRun([&](const ShardRun &run) {
    for (int64_t i = 0; i < run.count; ++i)
      indices[static_cast<size_t>(run.local + i)] = run.global + i;
  });
  return indices;
}

} // namespace titan
