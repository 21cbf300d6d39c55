//===- ConflictReport.h - What the map's order decided ----------*- C++ -*-===//
//
// Where operands ask for different splits, the order of the map's dimensions decides. Users see
// each such decision with both of its origins: what was kept, what was given up, and which declared
// tensors the two came from. `titanc info` and `--dist-print-conflicts` list them; a conflict that
// the map has no order for is a warning.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_CONFLICTREPORT_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_CONFLICTREPORT_H

#include "dialects/dist/Analysis/SourceValue.h"
#include "dialects/dist/Transforms/Shard/PartitionGraph.h"

namespace titan::dist {

/// A way in which an axis could split an operation.
struct WantedSplit {
  std::string dim;
  SourceValue origin; ///< the parameter, input or other bound value that the split came from
};

struct ConflictUse {
  std::string axis;
  SourceValue operation;             ///< the operation
  std::optional<WantedSplit> chosen; ///< none: the operation splits none of them
  std::vector<WantedSplit> rejected;

  /// `tp  ffn of w net.titan:4, not seq of x net.titan:3; h net.titan:9`.
  std::string print() const;
};

/// The conflicts of a graph that has been propagated, in program order. Of those of one source line
/// and axis that are between the same dimensions, the first: a backward repeats its forward.
std::vector<ConflictUse> reportConflicts(const PartitionGraph &graph);

/// The same of `function`, after --dist-assign-shardings; changes it as --dist-propagate does.
mlir::FailureOr<std::vector<ConflictUse>> reportConflicts(mlir::func::FuncOp function,
                                                          const MeshView &mesh);

/// Warns of conflicts between dimensions that the axis's map does not list.
void warnOfUndecided(const PartitionGraph &graph);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_CONFLICTREPORT_H
