// Loops over chunks and microbatches.
//
// A loop divides a dimension in time as a mesh axis divides it in space. The sharding rules
// therefore say whether an operation on chunks computes a chunk of its result or a term of a sum
// over chunks.
#pragma once

#include "dialects/dist/Analysis/ShardingRule.h"
#include "dialects/titan/IR/Titan.h"
#include <optional>

namespace titan::ir {

/// How a value depends on the iteration of a loop over slices of a dimension.
struct Dependence {
  enum Kind {
    Invariant,        ///< equal in all iterations
    Sliced,           ///< one slice per iteration, along dimension `dim`
    Accumulated,      ///< a sum over the iterations
    Zero,             ///< the initial value of such a sum
    AfterAccumulation ///< computed from complete sums
  } kind = Invariant;
  unsigned dim = 0; ///< of a Sliced value: the number of its dimension
  bool operator==(const Dependence &) const = default;
};

/// Returns the dependence of a value.
using GetDependence = llvm::function_ref<Dependence(mlir::Value)>;

/// Whether the loop may slice the factor `factor` of an operation. A result that depends on global
/// indices needs the first index of its chunk.
bool mayChunkAlong(mlir::Operation *op, const dist::Factor &factor);

/// The dependence of the results of an operation with sliced operands. None if the operation needs
/// an operand whole.
std::optional<llvm::SmallVector<Dependence>> inferResults(mlir::Operation *op,
                                                          GetDependence dependences);

/// `type` with the size of dimension `at` divided by `chunks`.
NamedTensorType getChunkType(NamedTensorType type, unsigned at, int64_t chunks);

/// Builds the body of a loop over chunks from clones of operations on whole values.
class ChunkBody {
public:
  ChunkBody(GetDependence dependences, int64_t chunks) : dependences(dependences), chunks(chunks) {}

  /// Sets the result types of `copy`, a clone of `original`, to those of one chunk.
  void setChunkTypes(mlir::Operation *original, mlir::Operation *copy);
  /// Passes the first index of chunk `index` to the clones that depend on global indices. Call this
  /// after all operations are cloned.
  void startAt(mlir::Value index);

private:
  void setChunkType(mlir::Value original, mlir::Value copy) const;
  DimAttr getPositionalDim(mlir::Operation *original) const;

  GetDependence dependences;
  int64_t chunks;
  /// Clones that depend on global indices, each with its sliced dimension as it is before slicing.
  llvm::SmallVector<std::pair<mlir::Operation *, DimAttr>> positional;
};

} // namespace titan::ir
