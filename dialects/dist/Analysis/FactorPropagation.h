//===- FactorPropagation.h - Shardings inferred through factors -*- C++ -*-===//
//
// The propagation of shardings as a graph of plain data: tensors, and nodes that tie their
// dimensions by factors. Tensors that the user's map binds are fixed; the others start unsplit and
// only ever gain axes, so the fixpoint exists and does not depend on names of axes.
//
// Where all tensors of a node that an axis splits agree on one factor, the others follow, forward
// and then backward, to a fixpoint. Where they disagree, nothing moves until then; after that the
// axis's map decides (a dimension that it lists earlier wins), one node at a time in program order.
//
// All this happens twice. First a tensor takes an axis only by the dimension of its own that the
// map likes best, as if the user had declared the tensor; what is still unsplit then takes what
// comes.
//
// After Shardy's propagation (openxla/shardy, docs/propagation.md).
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_ANALYSIS_FACTORPROPAGATION_H
#define TITAN_DIALECTS_DIST_ANALYSIS_FACTORPROPAGATION_H

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
  int flatFrom = 0;           ///< first flattened dimension, where some place is kFlat
  bool fixed = false;
  /// Per axis, the tensor that had it to begin with and from which it came here, as an index; -1
  /// where the axis is nowhere. Filled in by propagateFactors.
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

/// Gives axes to dimensions of tensors that are not fixed.
void propagateFactors(FactorGraph &graph);

/// The factors of `node` that `axis` splits in some operand or result.
std::set<int> findSplitFactors(const FactorGraph &graph, const FactorNode &node, size_t axis);

/// The tensor from which the split of `factor` by `axis` came to the first operand or result of
/// `node` that has it; -1 where none has.
int findOrigin(const FactorGraph &graph, const FactorNode &node, size_t axis, int factor);

/// Product of the degrees of the axes that split `dim` of `tensor`; an auto axis counts as 1.
int64_t getDegree(const FactorGraph &graph, const FactorTensor &tensor, int dim);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_ANALYSIS_FACTORPROPAGATION_H
