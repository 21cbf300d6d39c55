// The elements of a global tensor that a rank stores. This local-to-global index serves initial
// values, weights, checkpoints and data. Plain data, no communication.
//
// Mesh axes first shard the dimensions. In flat storage, the dimensions from number `flatFrom` on
// are then flattened, padded and sharded into equal chunks (program.h, TensorInfo). A shard is
// visited as runs, which are contiguous both in the rank's memory and in the global tensor
// (row-major, without padding).
//
// `degree` and `coordinate` hold one number per mesh axis. Degrees must divide the sizes of the
// dimensions that they shard (checkDivisible).
#pragma once

#include "titan/runtime/program.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>

namespace titan::rt {

/// A run of `count` elements: from index `local` of the shard and index `global` of the tensor.
struct ShardRun {
  int64_t local;
  int64_t global;
  int64_t count;
};

class ShardLayout {
public:
  ShardLayout(const TensorInfo &info, std::span<const int64_t> degree,
              std::span<const int64_t> coordinate);

  /// Elements of the shard, padding included.
  int64_t localElements() const { return outerCount * chunk; }
  /// Elements of the global tensor, without padding.
  int64_t globalElements() const { return global; }
  /// Calls `visit` for each run in the order of local memory, without padding.
  void forEachRun(const std::function<void(const ShardRun &)> &visit) const;

  /// Whether this rank writes the shard. Of the ranks with the same shard, it is the one with
  /// coordinate 0 on all axes that do not shard the tensor.
  bool isWriter() const { return writer; }
  /// The index of the shard; equal on ranks with equal shards.
  int64_t shardIndex() const { return number; }

private:
  /// Visits local flat positions [from, to) of one outer index as global runs.
  void visitRange(int64_t outerGlobal, int64_t outerLocal, int64_t from, int64_t to,
                  const std::function<void(const ShardRun &)> &visit) const;

  struct Extent {
    int64_t size;   // global, without padding
    int64_t local;  // local, padding included
    int64_t offset; // shard offset
    /// Elements of the shard without padding.
    int64_t real() const { return std::clamp<int64_t>(size - offset, 0, local); }
  };
  std::vector<Extent> extents;
  size_t flatFrom;        // first flattened dimension
  int64_t outerCount = 1; // local elements of the dimensions before it
  int64_t rest = 1;       // local elements of the others, without padding
  int64_t chunk = 1;      // those in the chunk of one rank
  int64_t chunkStart = 0;
  int64_t global = 1;
  bool writer = true;
  int64_t number = 0;
};

/// The info of one slot of a stacked tensor: without its leading dimension, or without `levels` of
/// them for nested repeats.
TensorInfo layerInfo(const TensorInfo &stacked, size_t levels = 1);

/// The name of one slot: {3} of "layers.wq" is "layers.3.wq". For nested repeats, {1, 3} of
/// "outer.inner.wq" is "outer.1.inner.3.wq". {3} of the state "m.layers.wq" is "m.layers.3.wq".
std::string layerName(const Tensor &tensor, std::span<const int64_t> iterations);

/// Per leading dimension of a stacked tensor, the iterations of its slots; empty for other tensors.
std::vector<std::vector<int64_t>> stackedIterations(const Tensor &tensor);

/// An error text for a size that degrees do not divide: "batch = 8 cannot be split by shard = 3
/// ...".
std::string checkDivisible(const TensorInfo &info, std::span<const Axis> mesh,
                           std::span<const int64_t> degree);

} // namespace titan::rt
