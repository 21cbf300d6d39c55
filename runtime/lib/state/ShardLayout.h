// Which elements of a global tensor a rank holds, and where: the one function from local to global
// index that initial values, weights, checkpoints and data share. Plain data, no communication.
//
// A rank's part is first cut along the dimensions that mesh axes split, then, where the tensor is
// stored flat, everything below the first `flatFrom` dimensions is flattened, padded and cut into
// equal chunks (program.h, TensorInfo). It is walked as runs: stretches that are contiguous both
// in the rank's memory and in the global tensor (row-major, without padding).
//
// `degree` and `coordinate` hold one number per mesh axis. Sizes must be divisible by their axes'
// degrees (checkDivisible says which are not).
#pragma once

#include "titan/runtime/program.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>

namespace titan::rt {

/// One run of `count` elements: from `local` in the rank's memory, from `global` in the tensor.
struct ShardRun {
  int64_t local;
  int64_t global;
  int64_t count;
};

class ShardLayout {
public:
  ShardLayout(const TensorInfo &info, std::span<const int64_t> degree,
              std::span<const int64_t> coordinate);

  /// Elements that this rank's buffer holds, padding included.
  int64_t localElements() const { return outerCount * chunk; }
  /// Elements of the global tensor, without padding.
  int64_t globalElements() const { return global; }
  /// Calls `visit` for every run, in the order of local memory. Padding belongs to no run.
  void forEachRun(const std::function<void(const ShardRun &)> &visit) const;

  /// Of the ranks that hold the same part, one writes it: the one with coordinate 0 on every axis
  /// that does not cut this tensor.
  bool isWriter() const { return writer; }
  /// The number of the part that this rank holds: the same on ranks that hold the same.
  int64_t shardIndex() const { return number; }

private:
  /// Visits local flat positions [from, to) below the outer dimensions as global runs.
  void visitRange(int64_t outerGlobal, int64_t outerLocal, int64_t from, int64_t to,
                  const std::function<void(const ShardRun &)> &visit) const;

  struct Extent {
    int64_t size;   // global, without padding
    int64_t local;  // after the mesh axes' cut, padding included
    int64_t offset; // of this rank's part
    /// How many of the rank's elements are no padding.
    int64_t real() const { return std::clamp<int64_t>(size - offset, 0, local); }
  };
  std::vector<Extent> extents;
  size_t flatFrom;        // dimensions before it index chunks
  int64_t outerCount = 1; // their product, locally
  int64_t rest = 1;       // local elements below them, without padding
  int64_t chunk = 1;      // of these, what one rank holds
  int64_t chunkStart = 0;
  int64_t global = 1;
  bool writer = true;
  int64_t number = 0;
};

/// For a stacked tensor, one layer's part of its info: without the first dimension, or the first
/// `levels` where repeats stand in repeats.
TensorInfo layerInfo(const TensorInfo &stacked, size_t levels = 1);

/// The name of one iteration's tensor: {3} of "layers.wq" is "layers.3.wq", {1, 3} of a repeat in a
/// repeat, "outer.inner.wq", is "outer.1.inner.3.wq", and {3} of the state "m.layers.wq" is
/// "m.layers.3.wq".
std::string layerName(const Tensor &tensor, std::span<const int64_t> iterations);

/// For each leading dimension of a stacked tensor, the iterations that its slots belong to; nothing
/// for any other tensor.
std::vector<std::vector<int64_t>> stackedIterations(const Tensor &tensor);

/// An empty text, or what is not divisible: "batch = 8 cannot be split by shard = 3 ...".
std::string checkDivisible(const TensorInfo &info, std::span<const Axis> mesh,
                           std::span<const int64_t> degree);

} // namespace titan::rt
