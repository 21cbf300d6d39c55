// Propagation of shardings.
//
// Propagates shardings through a graph of plain data. Nodes are operations; factors connect the
// dimensions of their tensors. Tensors with a sharding are fixed. The others start replicated and
// only gain axes, so a fixpoint exists. The result does not depend on the names of axes.
//
// If all tensors of a node agree on one factor per axis, the other tensors follow. This runs
// forward and backward to a fixpoint. Then the axis rules resolve one conflict, the first in
// program order: the dimension that they list earlier wins. Both steps alternate until nothing
// changes.
//
// All of this runs twice. In the first round an axis shards a tensor only along the tensor's
// preferred dimension, as if the user had declared the tensor. The second round takes any
// dimension.
//
// After Shardy's propagation (openxla/shardy, docs/propagation.md).
#pragma once

#include "dialects/dist/Analysis/AxisAssignment.h"
#include <set>

namespace titan::dist {

struct FactorDim {
  std::string name, origin; ///< as in Factor
  int64_t size;             ///< global
};

struct FactorTensor {
  std::vector<FactorDim> dims;
  std::vector<int> dimOfAxis; ///< per axis: a dimension, kReplicated or kFlat
  int flatFrom = 0;           ///< first flattened dimension, if an axis is kFlat
  bool fixed = false;
  /// Per axis, the index of the tensor from which its sharding was propagated; -1 for a replicated
  /// axis. Set by propagateFactors.
  std::vector<int> origins = {};
};

struct FactorNode {
  ShardingRule rule;
  std::vector<unsigned> operands, results; ///< indices of tensors
};

struct FactorGraph {
  std::vector<AxisInfo> axes; ///< outer to inner; none of degree 1
  std::vector<FactorTensor> tensors;
  std::vector<FactorNode> nodes; ///< in program order
};

/// Infers `dimOfAxis` of the tensors that are not fixed.
void propagateFactors(FactorGraph &graph);

/// The factors of `node` that `axis` shards in some operand or result.
std::set<int> findSplitFactors(const FactorGraph &graph, const FactorNode &node, size_t axis);

/// The tensor from which the sharding of `factor` over `axis` was propagated to `node`; -1 if the
/// axis does not shard it.
int findOrigin(const FactorGraph &graph, const FactorNode &node, size_t axis, int factor);

/// The degree of `dim` of `tensor`: the product over its axes, with 1 for the auto axis.
int64_t getDegree(const FactorGraph &graph, const FactorTensor &tensor, int dim);

} // namespace titan::dist
