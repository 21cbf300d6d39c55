#include "FileTensors.h"

#include <algorithm>

namespace titan::rt {

namespace {

/// Visits the slots of a stacked tensor in row-major order.
template <typename Visit>
void forEachSlot(const std::vector<std::vector<int64_t>> &levels, const Visit &visit,
                 std::vector<int64_t> iterations = {}) {
  if (iterations.size() == levels.size())
    return visit(std::span<const int64_t>(iterations));
  for (int64_t iteration : levels[iterations.size()]) {
    std::vector<int64_t> inner = iterations;
    inner.push_back(iteration);
    forEachSlot(levels, visit, std::move(inner));
  }
}

} // namespace

std::vector<FileTensor> listFileTensors(Executor &executor, std::span<const Role> roles) {
  std::vector<FileTensor> fileTensors;
  for (const Tensor &tensor : executor.program().tensors) {
    if (std::find(roles.begin(), roles.end(), tensor.role) == roles.end())
      continue;
    std::byte *data = executor.has(tensor) ? executor.getData(tensor) : nullptr;
    Executor::Slots slots = executor.getSlots(tensor);
    int64_t layer = 0;
    forEachSlot(stackedIterations(tensor), [&](std::span<const int64_t> iterations) {
      fileTensors.push_back({layerName(tensor, iterations),
                             slots.info,
                             data ? data + layer * slots.stride : nullptr,
                             slots.bytes,
                             &tensor,
                             layer,
                             {iterations.begin(), iterations.end()}});
      ++layer;
    });
  }
  return fileTensors;
}

std::vector<int64_t> getShape(const TensorInfo &info) {
  std::vector<int64_t> shape;
  for (const Dim &dim : info.dims)
    shape.push_back(dim.size - dim.padding);
  return shape;
}

std::vector<ShardRun> listSegments(Executor &executor, const FileTensor &fileTensor,
                                   int64_t length) {
  std::vector<ShardRun> segments;
  executor.getLayout(fileTensor.info).forEachRun([&](const ShardRun &run) {
    for (int64_t at = 0; at < run.count; at += segments.back().count) {
      const int64_t left = length - (run.global + at) % length;
      segments.push_back({run.local + at, run.global + at, std::min(left, run.count - at)});
    }
  });
  return segments;
}

int64_t getByteSize(const TensorInfo &info) {
  int64_t bytes = getByteSize(info.dtype);
  for (int64_t size : getShape(info))
    bytes *= size;
  return bytes;
}

} // namespace titan::rt
