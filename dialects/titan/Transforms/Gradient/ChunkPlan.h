// Chooses the dimension and the number of chunks of a chunked loss.
//
// Weighs the memory that chunks save against their cost. The sizes are those on one rank, as far as
// the axis rules determine them.
#pragma once

#include "dialects/titan/Transforms/Gradient/ChunkGroup.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::ir {

/// A group of operations, the dimension to slice, and the number of chunks.
struct ChunkPlan {
  ChunkGroup group;
  DimAttr dim;
  int64_t chunks;
};

/// The dimension that microbatches will slice, and their number; null and 1 for none.
struct Microbatches {
  mlir::StringAttr dim;
  int64_t count = 1;
};

/// Plans the chunked loss of one train program.
class ChunkPlanner {
public:
  /// Chunks do not slice the dimension of the microbatches. Their bytes are those of a microbatch.
  ChunkPlanner(mlir::func::FuncOp function, Microbatches microbatches);

  /// The dimension and the number of chunks that minimise the largest value, if that value exceeds
  /// `minChunkBytes`.
  std::optional<ChunkPlan> choose(int64_t minChunkBytes);
  /// The outermost dimension that can be sliced into `chunks`.
  std::optional<ChunkPlan> find(int64_t chunks);
  /// The dimensions that may be sliced, outer ones first.
  llvm::ArrayRef<DimAttr> getCandidates() const { return dims; }
  /// The reason of the last failure.
  const ChunkGroup::Obstacle &getObstacle() const { return obstacle; }

private:
  int64_t getNumElements(mlir::Value value) const;
  int64_t getBytes(mlir::Value value) const;
  bool mayChunk(DimAttr dim);
  void findCandidates();
  int64_t chooseNumChunks(const ChunkGroup &group, int64_t minChunkBytes) const;
  mlir::FailureOr<ChunkGroup> findGroup(DimAttr dim);
  mlir::FailureOr<ChunkGroup> findHead(DimAttr dim);

  mlir::func::FuncOp function;
  Microbatches microbatches;
  /// The dimensions that an axis shards, in the order of its rules, and its degree; 0: the launcher
  /// chooses the degree.
  struct Axis {
    llvm::SmallVector<mlir::StringAttr> shards;
    int64_t degree;
  };
  llvm::SmallVector<Axis> axes;
  llvm::SmallVector<DimAttr> dims; ///< candidates, outer ones first
  ChunkGroup::Obstacle obstacle;
};

} // namespace titan::ir
