#include "TensorShards.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace titan::rt {

namespace {

/// The division of a dimension by its axes, outer to inner, with the coordinates of a rank.
std::vector<ShardLevel> getLevels(const std::vector<int> &axes, int headTailAxis,
                                  std::span<const int64_t> degree,
                                  std::span<const int64_t> coordinate) {
  std::vector<ShardLevel> levels;
  for (int axis : axes)
    levels.push_back({degree[axis], coordinate[axis],
                      axis == headTailAxis ? ShardOrder::HeadTail : ShardOrder::Block});
  return levels;
}

/// Per mesh axis, whether it shards the tensor.
std::vector<bool> shardingAxes(const TensorInfo &info, size_t axes) {
  std::vector<bool> shards(axes);
  for (const Dim &dim : info.dims)
    for (int axis : dim.axes)
      shards[axis] = true;
  for (int axis : info.flatAxes)
    shards[axis] = true;
  return shards;
}

} // namespace

TensorSharding makeSharding(const TensorInfo &info, std::span<const int64_t> degree,
                            std::span<const int64_t> coordinate) {
  TensorSharding sharding{
      {}, getLevels(info.flatAxes, -1, degree, coordinate), static_cast<size_t>(info.flatFrom)};
  for (const Dim &dim : info.dims)
    sharding.dims.push_back(
        {dim.size, getLevels(dim.axes, dim.headTailAxis, degree, coordinate), dim.padding});
  return sharding;
}

bool isShardWriter(const TensorInfo &info, std::span<const int64_t> coordinate) {
  std::vector<bool> shards = shardingAxes(info, coordinate.size());
  for (size_t axis = 0; axis < coordinate.size(); ++axis)
    if (!shards[axis] && coordinate[axis] != 0)
      return false;
  return true;
}

int64_t getShardIndex(const TensorInfo &info, std::span<const int64_t> degree,
                      std::span<const int64_t> coordinate) {
  std::vector<bool> shards = shardingAxes(info, degree.size());
  int64_t index = 0;
  for (size_t axis = 0; axis < degree.size(); ++axis)
    index = index * degree[axis] + (shards[axis] ? coordinate[axis] : 0);
  return index;
}

TensorInfo layerInfo(const TensorInfo &stacked, size_t levels) {
  TensorInfo info = stacked;
  info.dims.erase(info.dims.begin(), info.dims.begin() + static_cast<std::ptrdiff_t>(levels));
  info.flatFrom = std::max(0, info.flatFrom - static_cast<int>(levels));
  return info;
}

std::string layerName(const Tensor &tensor, std::span<const int64_t> iterations) {
  const std::string &name = tensor.name;
  const int prefixSegments = tensor.role == Role::State ? 1 : 0; // "m"
  auto getSegment = [&](size_t repeat) {
    return prefixSegments + (tensor.repeatSegments.empty() ? static_cast<int>(repeat)
                                                           : tensor.repeatSegments[repeat]);
  };
  std::string result;
  size_t from = 0, next = 0;
  for (int segment = 0; next < iterations.size(); ++segment) {
    size_t dot = std::min(name.find('.', from), name.size());
    result += name.substr(from, dot - from);
    if (segment == getSegment(next))
      result += fmt::format(".{}", iterations[next++]);
    if (dot == name.size())
      return result;
    result += '.';
    from = dot + 1;
  }
  return result + name.substr(from);
}

std::vector<std::vector<int64_t>> listSlots(const Tensor &tensor) {
  std::vector<std::vector<int64_t>> slots = {{}};
  for (const std::vector<int64_t> &level : stackedIterations(tensor)) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t> &slot : slots)
      for (const int64_t iteration : level) {
        longer.push_back(slot);
        longer.back().push_back(iteration);
      }
    slots = std::move(longer);
  }
  return slots;
}

std::vector<std::vector<int64_t>> stackedIterations(const Tensor &tensor) {
  if (!tensor.stacked || !tensor.iterations.empty())
    return tensor.iterations;
  std::vector<int64_t> all(static_cast<size_t>(tensor.info.dims[0].size));
  std::iota(all.begin(), all.end(), 0);
  return {all};
}

std::string checkDivisible(const TensorInfo &info, std::span<const Axis> mesh,
                           std::span<const int64_t> degree) {
  for (const Dim &dim : info.dims) {
    int64_t count = 1;
    std::string axes;
    for (int axis : dim.axes) {
      count *= degree[axis];
      if (axis == dim.headTailAxis && degree[axis] > 1)
        count *= 2; // two blocks for each shard (DimShard.h)
      axes += fmt::format("{}{} = {}", axes.empty() ? "" : ", ", mesh[axis].name, degree[axis]);
    }
    if (dim.size % count != 0)
      return fmt::format("{} = {} cannot be split evenly by {}", dim.name, dim.size, axes);
  }
  return "";
}

} // namespace titan::rt
