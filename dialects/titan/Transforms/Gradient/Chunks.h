//===- Chunks.h - Values that are computed a chunk at a time ------*- C++ -*-===//
//
// A chunk of a dimension is to time what a shard of it is to a mesh axis, so sharding rules say
// what an operation makes of chunks: chunks again, or terms of a sum over them.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CHUNKS_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CHUNKS_H

#include "dialects/dist/Analysis/ShardingRule.h"
#include "dialects/titan/IR/Titan.h"
#include <optional>

namespace titan::ir {

/// What a value has to do with the dimension that is cut.
struct Dependence {
  enum Kind {
    Invariant,        ///< the same whatever chunk is computed
    Sliced,           ///< one chunk at a time, along dimension `dim`
    Accumulated,      ///< what the chunks give is added up
    Zero,             ///< a sum of nothing yet: what a repeat starts to add to
    AfterAccumulation ///< computed from complete sums
  } kind = Invariant;
  unsigned dim = 0;
  bool operator==(const Dependence &) const = default;
};

using DependenceOf = llvm::function_ref<Dependence(mlir::Value)>;

/// Whether an operation may be computed in chunks along a factor of its rule: results that depend
/// on global indices along it need to be told where a chunk starts.
bool mayChunkAlong(mlir::Operation *op, const dist::Factor &factor);

/// What the results are of an operation some of whose operands are cut; nothing if it needs them
/// whole.
std::optional<llvm::SmallVector<Dependence>> inferResults(mlir::Operation *op,
                                                          DependenceOf dependences);

/// Dimension `at` of `type` with a `chunks`-th of its size, under the same name.
NamedTensorType getChunkType(NamedTensorType type, unsigned at, int64_t chunks);

/// Makes the body of a loop over chunks from clones of whole operations.
class ChunkBody {
public:
  ChunkBody(DependenceOf dependences, int64_t chunks) : dependences(dependences), chunks(chunks) {}

  /// Gives `copy`, a clone of `original`, the types that it has for one chunk.
  void setChunkTypes(mlir::Operation *original, mlir::Operation *copy);
  /// Tells those clones that depend on global indices where the chunk number `index` starts. Called
  /// when all clones are there.
  void startAt(mlir::Value index);

private:
  void setChunkType(mlir::Value original, mlir::Value copy) const;
  std::optional<int64_t> getPositionalSize(mlir::Operation *original) const;

  DependenceOf dependences;
  int64_t chunks;
  /// Clones that depend on global indices, and the size of their dimension in one chunk.
  llvm::SmallVector<std::pair<mlir::Operation *, int64_t>> positional;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CHUNKS_H
