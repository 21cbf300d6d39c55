// Collectives that implement a reshard.
//
// Plans a chain of collectives between any two shardings of a tensor. Each collective changes one
// axis list. Plain data: axes are numbers, outer to inner.
#pragma once

#include <vector>

namespace titan::dist {

/// `#dist.sharding` with axes as numbers.
struct ShardingByDim {
  std::vector<std::vector<int>> dims; ///< per dimension, its axes from outer to inner
  std::vector<int> flat = {};
  int flatFrom = 0;
  std::vector<int> partial = {};  ///< a set
  std::vector<int> headTail = {}; ///< axes that shard dimensions in head-tail order, a sorted set
  bool operator==(const ShardingByDim &) const = default;
};

struct CollectiveStep {
  enum Kind { AllGather, ReduceScatter, AllReduce, AllToAll, LocalSlice, MakePartial } kind;
  std::vector<int> axes;
  ShardingByDim after;
};

/// The steps from one sharding to the other. Steps that shrink the tensor come first, and local
/// steps precede communication. Adjacent axes of one list share a step, but for an axis in
/// head-tail order, which also never moves between dimensions: it is gathered, and sliced again.
///
/// `flatNests` says that flat storage has no padding. A chunk of a chunk is then the chunk of both
/// axes, and flat axes may change one by one. Otherwise they change all at once.
std::vector<CollectiveStep> planCollectives(ShardingByDim from, const ShardingByDim &to,
                                            bool flatNests = true);

} // namespace titan::dist
