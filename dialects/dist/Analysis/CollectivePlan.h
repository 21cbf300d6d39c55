//===- CollectivePlan.h - The collectives that change a layout --*- C++ -*-===//
//
// Any layout of a tensor to any other as a chain of collectives, each of which changes one thing.
// Plain data: axes are numbers, outer to inner, and lists are those of `#dist.sharding`.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_ANALYSIS_COLLECTIVEPLAN_H
#define TITAN_DIALECTS_DIST_ANALYSIS_COLLECTIVEPLAN_H

#include <vector>

namespace titan::dist {

struct ShardingByDim {
  std::vector<std::vector<int>> dims; ///< per dimension, the axes that split it, outer to inner
  std::vector<int> flat = {};
  int flatFrom = 0;
  std::vector<int> partial = {}; ///< a set
  bool operator==(const ShardingByDim &) const = default;
};

struct CollectiveStep {
  enum Kind { AllGather, ReduceScatter, AllReduce, AllToAll, LocalSlice, MakePartial } kind;
  std::vector<int> axes;
  ShardingByDim after;
};

/// The steps from one layout to the other. What makes a tensor smaller comes first, and what needs
/// no communication before what does. Neighbouring axes of one list go in one step.
///
/// `flatNests` says that flat storage needs no padding, so that a chunk cut further by the next
/// axis is the chunk of both axes. Where it does, flat axes come and go one by one, otherwise all
/// at once.
std::vector<CollectiveStep> planCollectives(ShardingByDim from, const ShardingByDim &to,
                                            bool flatNests = true);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_ANALYSIS_COLLECTIVEPLAN_H
