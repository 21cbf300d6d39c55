//===- Parts.h - Values that are computed a part at a time ------*- C++ -*-===//
//
// A part of a dimension is to time what a shard of it is to a mesh axis, so sharding rules say what
// an operation makes of parts: parts again, or terms of a sum over them.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PARTS_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PARTS_H

#include "dialects/dist/Analysis/ShardingRule.h"
#include "dialects/titan/IR/Titan.h"
#include <optional>

namespace titan::ir {

/// What a value has to do with the dimension that is cut.
struct Flow {
  enum Kind {
    Whole, ///< the same whatever part is computed
    Split, ///< one part at a time, along dimension `dim`
    Sum,   ///< what the parts give is added up
    Zero,  ///< a sum of nothing yet: what a repeat starts to add to
    After  ///< computed from complete sums
  } kind = Whole;
  unsigned dim = 0;
  bool operator==(const Flow &) const = default;
};

using FlowOf = llvm::function_ref<Flow(mlir::Value)>;

/// Whether an operation may be computed in chunks along a factor of its rule: results that depend
/// on global indices along it need to be told where a chunk starts.
bool mayCutAlong(mlir::Operation *op, const dist::Factor &factor);

/// What the results are of an operation some of whose operands are cut; nothing if it needs them
/// whole.
std::optional<llvm::SmallVector<Flow>> cutResults(mlir::Operation *op, FlowOf flows);

/// Dimension `at` of `type` with a `parts`-th of its size, under the same name.
NamedTensorType cutType(NamedTensorType type, unsigned at, int64_t parts);

/// Makes the body of a loop over chunks from clones of whole operations.
class ChunkBody {
public:
  ChunkBody(FlowOf flows, int64_t parts) : flows(flows), parts(parts) {}

  /// Gives `copy`, a clone of `original`, the types that it has for one part.
  void cutTypes(mlir::Operation *original, mlir::Operation *copy);
  /// Tells those clones that depend on global indices where the chunk number `index` starts. Called
  /// when all clones are there.
  void startAt(mlir::Value index);

private:
  void cutValue(mlir::Value original, mlir::Value copy) const;
  DimAttr getPositionalDim(mlir::Operation *original) const;

  FlowOf flows;
  int64_t parts;
  /// Clones that depend on global indices, and the dimension of theirs that is cut, uncut.
  llvm::SmallVector<std::pair<mlir::Operation *, DimAttr>> positional;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PARTS_H
