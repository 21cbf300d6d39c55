// Interfaces through which the phases query operations.
//
// TitanInterfaces.td declares the interfaces; below are the types that their methods use.
#pragma once

#include "dialects/dist/Analysis/ShardingRule.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// A rank's shard of a tensor on the host, row-major. Elements of all types are doubles, which is
/// exact for f64, f32, bf16, booleans and integers below 2^53.
struct HostTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> data;
};

/// The shards of one rank: the local-to-global index along each dimension of a tensor.
class RankShards {
public:
  virtual ~RankShards() = default;
  /// The shard of dimension number `dim` on the rank that is `back` positions before this rank
  /// along the axes that shard the dimension, cyclically. 0 is this rank; a step of a ring reads
  /// others.
  virtual DimShard getShard(NamedTensorType type, int64_t dim, int64_t back) const = 0;
  DimShard getShard(NamedTensorType type, int64_t dim) const { return getShard(type, dim, 0); }
};

} // namespace titan::ir

#include "dialects/titan/Interfaces/TitanInterfaces.h.inc"
