// Operations with conflicting shardings.
//
// An axis shards one factor of an operation. Propagation may bring several factors from tensors
// with different shardings. The operation keeps one, and communication undoes the others. This file
// finds such operations in a propagated graph. Plain data.
#pragma once

#include "dialects/dist/Analysis/FactorPropagation.h"

namespace titan::dist {

/// A factor of the operation that the axis shards in some operand or result.
struct ConflictSide {
  int factor;
  int origin; ///< the tensor of the graph from which the sharding was propagated
};

struct Conflict {
  size_t axis;
  size_t node;
  std::vector<ConflictSide> sides; ///< two or more, by factor
  int chosen = -1;                 ///< index in `sides`, or -1: the operation shards none of them
  /// Whether the axis rules order the sides, because they list at least one of the dimensions.
  bool isDecidedByRules = true;
};

/// In program order; per operation, axes from outer to inner. Partial sums arise later and are no
/// side of a conflict.
std::vector<Conflict> findConflicts(const FactorGraph &graph);

} // namespace titan::dist
