#include "FileTensors.h"

#include <algorithm>

namespace titan::rt {

std::vector<FileTensor> listFileTensors(Executor &executor, std::span<const Role> roles) {
  std::vector<FileTensor> fileTensors;
  for (const Tensor &tensor : executor.program().tensors) {
    if (std::find(roles.begin(), roles.end(), tensor.role) == roles.end())
      continue;
    std::byte *data = executor.has(tensor) ? executor.getData(tensor) : nullptr;
    Executor::Slots slots = executor.getSlots(tensor);
    int64_t layer = 0;
    for (std::vector<int64_t> &iterations : listSlots(tensor)) {
      fileTensors.push_back({layerName(tensor, iterations), slots.info,
                             data ? data + layer * slots.stride : nullptr, slots.bytes, &tensor,
                             layer, std::move(iterations)});
      ++layer;
    }
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
