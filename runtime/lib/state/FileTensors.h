// The tensors of a program as files store them: complete, or one layer of a stacked one.
#pragma once

#include "Executor.h"

#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// A tensor as stored in files: a complete one, or one layer of a stacked one.
struct FileTensor {
  std::string name;
  TensorInfo info;
  std::byte *data; // this rank's shard, on the device; null if it has none
  int64_t bytes;
  const Tensor *tensor;
  int64_t layer;                   // 0 if not stacked
  std::vector<int64_t> iterations; // of its repeats
};

/// All tensors of these roles, those of other ranks included.
std::vector<FileTensor> listFileTensors(Executor &executor, std::span<const Role> roles);

/// The sizes, and the bytes of all elements, without padding as in files.
std::vector<int64_t> getShape(const TensorInfo &info);
int64_t getByteSize(const TensorInfo &info);

/// The elements of this rank's shard in segments for threads, each of consecutive elements between
/// two multiples of `length` in the tensor.
std::vector<ShardRun> listSegments(Executor &executor, const FileTensor &fileTensor,
                                   int64_t length);

/// Calls `read` for each run of this rank's shard, if it has one.
template <typename Read>
void readShard(Executor &executor, const FileTensor &fileTensor, const Read &read) {
  if (!fileTensor.data)
    return;
  HostView host(executor.device(), fileTensor.data, fileTensor.bytes, HostView::Access::ReadWrite);
  const DType type = fileTensor.info.dtype;
  executor.getLayout(fileTensor.info).forEachRun([&](const ShardRun &run) {
    read(run, type, host.data() + run.local * getByteSize(type));
  });
}

} // namespace titan::rt
