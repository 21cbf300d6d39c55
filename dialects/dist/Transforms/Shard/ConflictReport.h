// Report of sharding conflicts.
//
// If operands require different shardings of an operation, the order of the axis rules decides. The
// report lists each decision: the chosen and the rejected dimensions, and the declared tensors from
// which they were propagated. `titanc info` and `--dist-print-conflicts` print it. A conflict that
// the rules do not order is a warning.
#pragma once

#include "dialects/dist/Analysis/SourceValue.h"
#include "dialects/dist/Transforms/Shard/PartitionGraph.h"

namespace titan::dist {

/// A dimension that an axis could shard.
struct WantedSplit {
  std::string dim;
  SourceValue origin; ///< the declared value from which the sharding was propagated
};

struct ConflictUse {
  std::string axis;
  SourceValue operation;
  std::optional<WantedSplit> chosen; ///< none: the operation shards none of them
  std::vector<WantedSplit> rejected;

  /// `tp  ffn of w net.titan:4, not seq of x net.titan:3; h net.titan:9`.
  std::string print() const;
};

/// The conflicts of a propagated graph, in program order. Conflicts of one source line, axis and
/// set of dimensions are listed once, because the backward repeats the forward's.
std::vector<ConflictUse> reportConflicts(const PartitionGraph &graph);

/// The conflicts of `function` after --dist-assign-shardings. Copies index tables as
/// --dist-propagate does.
mlir::FailureOr<std::vector<ConflictUse>> reportConflicts(mlir::func::FuncOp function,
                                                          const MeshView &mesh);

/// Warns of conflicts between dimensions that the axis rules do not list.
void warnOfUndecided(const PartitionGraph &graph);

} // namespace titan::dist
