// The shard of a global tensor on a rank: the local-to-global index function that initial values,
// weights, checkpoints and data share. Plain data, no communication.
//
// A tensor is divided along the dimensions that mesh axes shard. In flat storage, everything after
// the first `flatFrom` dimensions is then flattened, padded and divided into equal shards
// (program.h, TensorInfo). A shard is visited as runs: ranges that are contiguous both in the
// rank's memory and in the global tensor (row-major, without padding).
//
// `degree` and `coordinate` hold one number per mesh axis. Sizes must be divisible by the degrees
// of their axes (checkDivisible reports which are not).
#pragma once

#include "titan/runtime/program.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>

namespace titan::rt {

/// A contiguous run of `count` elements: from `local` in the rank's memory, from `global` in the
/// tensor.
struct ShardRun {
  int64_t local;
  int64_t global;
  int64_t count;
};

class ShardLayout {
public:
  ShardLayout(const TensorInfo &info, std::span<const int64_t> degree,
              std::span<const int64_t> coordinate);

  /// Elements of this rank's shard, padding included.
  int64_t localElements() const { return outerCount * chunk; }
  /// Elements of the global tensor, without padding.
  int64_t globalElements() const { return global; }
  /// Calls `visit` for every run, in the order of local memory. Runs exclude padding.
  void forEachRun(const std::function<void(const ShardRun &)> &visit) const;

  /// Of the ranks with the same shard, one writes it: the rank with coordinate 0 on every axis that
  /// does not shard the tensor.
  bool isWriter() const { return writer; }
  /// The index of this rank's shard: equal on ranks with the same shard.
  int64_t shardIndex() const { return number; }

private:
  /// Visits local flat positions [from, to) below the outer dimensions as global runs.
  void visitRange(int64_t outerGlobal, int64_t outerLocal, int64_t from, int64_t to,
                  const std::function<void(const ShardRun &)> &visit) const;

  struct Extent {
    int64_t size;   // global, without padding
    int64_t local;  // of the shard, padding included
    int64_t offset; // of this rank's shard
    /// The shard's elements without padding.
    int64_t real() const { return std::clamp<int64_t>(size - offset, 0, local); }
  };
  std::vector<Extent> extents;
  size_t flatFrom;        // dimensions before it select flat shards
  int64_t outerCount = 1; // their local product
  int64_t rest = 1;       // local elements of the other dimensions, without padding
  int64_t chunk = 1;      // of these, the elements of one rank
  int64_t chunkStart = 0;
  int64_t global = 1;
  bool writer = true;
  int64_t number = 0;
};

/// The info of one layer of a stacked tensor: without the first dimension, or without the first
/// `levels` for nested repeats.
TensorInfo layerInfo(const TensorInfo &stacked, size_t levels = 1);

/// The name of one iteration's tensor: {3} of "layers.wq" is "layers.3.wq", {1, 3} of the nested
/// repeat "outer.inner.wq" is "outer.1.inner.3.wq", and {3} of the state "m.layers.wq" is
/// "m.layers.3.wq".
std::string layerName(const Tensor &tensor, std::span<const int64_t> iterations);

/// For each leading dimension of a stacked tensor, the iterations of its slots; empty for other
/// tensors.
std::vector<std::vector<int64_t>> stackedIterations(const Tensor &tensor);

/// Empty, or the indivisible dimension: "batch = 8 cannot be split by shard = 3 ...".
std::string checkDivisible(const TensorInfo &info, std::span<const Axis> mesh,
                           std::span<const int64_t> degree);

} // namespace titan::rt
