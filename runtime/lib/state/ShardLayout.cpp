#include "ShardLayout.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace titan::rt {

namespace {

/// Product of the axes' degrees, and this rank's position in their group, the last axis fastest.
std::pair<int64_t, int64_t> positionOf(const std::vector<int> &axes,
                                       std::span<const int64_t> degree,
                                       std::span<const int64_t> coordinate) {
  int64_t count = 1, index = 0;
  for (int axis : axes) {
    count *= degree[axis];
    index = index * degree[axis] + coordinate[axis];
  }
  return {count, index};
}

} // namespace

ShardLayout::ShardLayout(const TensorInfo &info, std::span<const int64_t> degree,
                         std::span<const int64_t> coordinate)
    : flatFrom(info.flatAxes.empty() ? 0 : static_cast<size_t>(info.flatFrom)) {
  std::vector<bool> isSharded(degree.size());
  for (size_t d = 0; d < info.dims.size(); ++d) {
    const Dim &dim = info.dims[d];
    auto [count, index] = positionOf(dim.axes, degree, coordinate);
    int64_t local = dim.size / count;
    extents.push_back({dim.size - dim.padding, local, local * index});
    global *= dim.size - dim.padding;
    (d < flatFrom ? outerCount : rest) *= local;
    for (int axis : dim.axes)
      isSharded[axis] = true;
  }
  auto [count, index] = positionOf(info.flatAxes, degree, coordinate);
  chunk = (rest + count - 1) / count;
  chunkStart = chunk * index;
  for (int axis : info.flatAxes)
    isSharded[axis] = true;
  for (size_t axis = 0; axis < degree.size(); ++axis) {
    writer &= isSharded[axis] || coordinate[axis] == 0;
    number = number * degree[axis] + (isSharded[axis] ? coordinate[axis] : 0);
  }
}

void ShardLayout::forEachRun(const std::function<void(const ShardRun &)> &visit) const {
  std::vector<int64_t> at(flatFrom);
  int64_t restGlobal = 1;
  for (size_t d = flatFrom; d < extents.size(); ++d)
    restGlobal *= extents[d].size;
  int64_t end = std::min(rest, chunkStart + chunk);
  for (int64_t outer = 0; outer < outerCount; ++outer) {
    int64_t index = 0;
    for (size_t d = 0; d < flatFrom; ++d)
      index = index * extents[d].size + extents[d].offset + at[d];
    bool isPadding = false;
    for (size_t d = 0; d < flatFrom; ++d)
      isPadding |= at[d] >= extents[d].real();
    if (!isPadding)
      visitRange(index * restGlobal, outer * chunk - chunkStart, chunkStart, end, visit);
    for (size_t d = flatFrom; d-- > 0;) {
      if (++at[d] < extents[d].local)
        break;
      at[d] = 0;
    }
  }
}

void ShardLayout::visitRange(int64_t outerGlobal, int64_t outerLocal, int64_t from, int64_t to,
                             const std::function<void(const ShardRun &)> &visit) const {
  // Trailing dimensions that are neither sharded nor padded form one contiguous run.
  size_t split = extents.size();
  int64_t run = 1;
  while (split > flatFrom) {
    --split;
    run *= extents[split].local;
    if (extents[split].local != extents[split].size || extents[split].offset != 0)
      break;
  }
  // The dimension at `split` is part of the run; dimensions before it enumerate runs.
  int64_t inside = 1;
  for (size_t d = split + 1; d < extents.size(); ++d)
    inside *= extents[d].size;
  for (int64_t position = from; position < to;) {
    int64_t number = position / run, within = position % run;
    int64_t index = 0, scale = 1, real = run;
    for (size_t d = split; d-- > flatFrom;) {
      int64_t at = number % extents[d].local;
      index += (at + extents[d].offset) * scale;
      if (at >= extents[d].real())
        real = 0;
      number /= extents[d].local;
      scale *= extents[d].size;
    }
    if (split < extents.size()) {
      index = index * extents[split].size + extents[split].offset;
      real = std::min(real, extents[split].real() * inside);
    }
    int64_t count = std::min(run - within, to - position);
    // Padding follows the real elements of the run.
    if (int64_t visited = std::min(count, real - within); visited > 0)
      visit({outerLocal + position, outerGlobal + index * inside + within, visited});
    position += count;
  }
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
  auto segmentOf = [&](size_t repeat) {
    return prefixSegments + (tensor.repeatSegments.empty() ? static_cast<int>(repeat)
                                                           : tensor.repeatSegments[repeat]);
  };
  std::string result;
  size_t from = 0, next = 0;
  for (int segment = 0; next < iterations.size(); ++segment) {
    size_t dot = std::min(name.find('.', from), name.size());
    result += name.substr(from, dot - from);
    if (segment == segmentOf(next))
      result += fmt::format(".{}", iterations[next++]);
    if (dot == name.size())
      return result;
    result += '.';
    from = dot + 1;
  }
  return result + name.substr(from);
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
      axes += fmt::format("{}{} = {}", axes.empty() ? "" : ", ", mesh[axis].name, degree[axis]);
    }
    if (dim.size % count != 0)
      return fmt::format("{} = {} cannot be split evenly by {}", dim.name, dim.size, axes);
  }
  return "";
}

} // namespace titan::rt
