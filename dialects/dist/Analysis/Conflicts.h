//===- Conflicts.h - Where shardings ask for different splits ---*- C++ -*-===//
//
// An operation splits one factor by an axis. Where propagation brought it several, from tensors
// that the user's map placed differently, one is kept and the others are undone by communication.
// This finds those operations: plain data, of a graph that has been propagated.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_ANALYSIS_CONFLICTS_H
#define TITAN_DIALECTS_DIST_ANALYSIS_CONFLICTS_H

#include "dialects/dist/Analysis/FactorPropagation.h"

namespace titan::dist {

/// One of the splits that an axis could make of an operation.
struct ConflictSide {
  int factor;
  int origin; ///< the tensor of the graph from which the split came
};

struct Conflict {
  size_t axis;
  size_t node;
  std::vector<ConflictSide> sides; ///< two or more, by factor
  int chosen = -1;                 ///< index in `sides`, or -1: the operation splits none of them
  /// Whether the axis's map has an order for them: it lists one of their dimensions at least.
  bool isDecidedByRules = true;
};

/// In program order, each operation's axes from outer to inner. Partial sums, which come later, are
/// no side of a conflict: where an operand becomes one, the others decide.
std::vector<Conflict> findConflicts(const FactorGraph &graph);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_ANALYSIS_CONFLICTS_H
