//===- ChunkPlan.h - Which values are computed in how many chunks -*- C++ -*-===//
//
// Weighs what chunks save against what they cost, by the sizes that values have on one rank as far
// as the maps to the machine say so.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CHUNKPLAN_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CHUNKPLAN_H

#include "dialects/titan/Transforms/Gradient/ChunkGroup.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::ir {

/// A group of operations, the dimension that is cut, and into how many chunks.
struct ChunkPlan {
  ChunkGroup group;
  DimAttr dim;
  int64_t chunks;
};

class ChunkPlanner {
public:
  /// `batch` is a dimension that will be cut by others; null for none.
  ChunkPlanner(mlir::func::FuncOp function, mlir::StringAttr batch);

  /// The dimension by which the largest value becomes smallest, if it has more than `minChunkBytes`
  /// bytes.
  std::optional<ChunkPlan> choose(int64_t minChunkBytes);
  /// So many chunks, of the outermost dimension that can be cut into them.
  std::optional<ChunkPlan> find(int64_t chunks);
  /// The dimensions that may be cut, outer ones first.
  llvm::ArrayRef<DimAttr> getCandidates() const { return dims; }
  /// Why there is nothing to find.
  const ChunkGroup::Obstacle &getObstacle() const { return obstacle; }

private:
  int64_t getNumElements(mlir::Value value) const;
  int64_t getBytes(mlir::Value value) const;
  bool mayChunk(DimAttr dim, mlir::StringAttr batch);
  void findCandidates(mlir::StringAttr batch);
  int64_t chooseNumChunks(const ChunkGroup &group, int64_t minChunkBytes) const;
  mlir::FailureOr<ChunkGroup> findGroup(DimAttr dim);
  mlir::FailureOr<ChunkGroup> findHead(DimAttr dim);

  mlir::func::FuncOp function;
  /// The dimensions that an axis splits, in the order of its map, and its degree; 0: chosen by the
  /// launch.
  struct Axis {
    llvm::SmallVector<mlir::StringAttr> splits;
    int64_t degree;
  };
  llvm::SmallVector<Axis> axes;
  llvm::SmallVector<DimAttr> dims; ///< candidates, outer ones first
  ChunkGroup::Obstacle obstacle;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CHUNKPLAN_H
