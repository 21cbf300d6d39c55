// The elements of a global tensor that a rank stores: the one local-to-global index of Titan. The
// runtime initialises, loads, saves and feeds tensors by it; the interpreter slices global values
// by it. Plain data, no communication.
//
// Axes first shard the dimensions (DimShard.h). In flat storage, the dimensions from number
// `flatFrom` on are then flattened in row-major order, padded and sharded into equal chunks. A
// shard is visited as runs, which are contiguous both in the rank's memory and in the global tensor
// (row-major, without padding).
#pragma once

#include "base/layout/DimShard.h"

#include <functional>
#include <vector>

namespace titan {

/// The sharding of one tensor, with the coordinates of one rank.
struct TensorSharding {
  struct Dim {
    int64_t size;                        ///< global, with padding
    std::vector<ShardLevel> levels = {}; ///< outer to inner
    int64_t padding = 0;                 ///< elements at the end that no file contains
  };
  std::vector<Dim> dims;
  std::vector<ShardLevel> flat = {}; ///< outer to inner; empty: no flat storage
  size_t flatFrom = 0;
};

/// The rank's shard of a dimension, padding included, or that of the rank `back` positions before.
DimShard getShard(const TensorSharding::Dim &dim, int64_t back = 0);

/// A run of `count` elements: from index `local` of the shard and index `global` of the tensor.
struct ShardRun {
  int64_t local;
  int64_t global;
  int64_t count;
};

class ShardLayout {
public:
  explicit ShardLayout(const TensorSharding &sharding);

  /// Elements of the shard, padding included.
  int64_t localElements() const { return outerCount * chunk; }
  /// Elements of the global tensor, without padding.
  int64_t globalElements() const { return globalCount; }
  /// Calls `visit` for each run in the order of local memory, without padding.
  void forEachRun(const std::function<void(const ShardRun &)> &visit) const;
  /// The global index of each element in the order of local memory; -1 for padding.
  std::vector<int64_t> globalIndices() const;

private:
  struct Dim {
    DimShard shard;
    int64_t size;      ///< global, without padding
    int64_t below = 1; ///< local elements of the later dimensions, up to `flatFrom` or to the last
    int64_t globalBelow = 1;
    bool isRun = true; ///< no later dimension is sharded or padded
  };
  /// A range of the flattened positions of the dimensions from some number on.
  struct Range {
    int64_t from, to;
  };
  using Visit = std::function<void(const ShardRun &)>;
  void visitOuter(size_t d, int64_t local, int64_t global, const Visit &visit) const;
  void visitInner(size_t d, int64_t local, int64_t global, Range range, const Visit &visit) const;

  std::vector<Dim> dims;
  size_t flatFrom;        ///< the first flattened dimension
  int64_t outerCount = 1; ///< local elements of the dimensions before it
  int64_t innerCount = 1; ///< local elements of the dimensions from `flatFrom` on
  int64_t chunk = 1;      ///< those in the chunk of the rank
  int64_t chunkStart = 0;
  int64_t globalCount = 1;
};

} // namespace titan
