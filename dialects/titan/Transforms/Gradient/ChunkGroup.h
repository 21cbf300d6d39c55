// The operations of a chunked loss.
//
// The logits of a large vocabulary, their exponentials and their gradient are the largest values of
// a step. No operation needs them whole, so their producers and users can run once per chunk of the
// sequence. This class finds these operations from value sizes and sharding rules.
#pragma once

#include "dialects/dist/Analysis/ShardingRule.h"
#include "dialects/titan/Transforms/Gradient/Chunks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {

class ChunkGroup {
public:
  /// Returns the number of elements of a value on one rank.
  using GetSize = llvm::function_ref<int64_t(mlir::Value)>;

  /// The operation that prevents chunking, and the reason.
  struct Obstacle {
    mlir::Operation *op = nullptr;
    std::string why;
  };

  /// The operations of `block` that produce or read large values, and the operations on paths
  /// between these. A value is large if it has the dimension `dim` and more than half the elements
  /// of the largest such value. Fails if an operation cannot run in chunks of `dim`, or if a large
  /// value is used whole, outside the group.
  static mlir::FailureOr<ChunkGroup> find(mlir::Block &block, mlir::StringAttr dim, GetSize getSize,
                                          Obstacle &obstacle);
  /// The same among the operations `scope`. Values with the dimensions of a repeat's result do not
  /// count as the largest value, and large values may stay whole outside the group.
  static mlir::FailureOr<ChunkGroup> findIn(const llvm::DenseSet<mlir::Operation *> &scope,
                                            mlir::Block &block, mlir::StringAttr dim,
                                            GetSize getSize, Obstacle &obstacle);

  /// How a value of the group depends on the chunk.
  Dependence getDependence(mlir::Value value) const { return dependences.lookup(value); }
  /// The operations of the group, in block order.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops.getArrayRef(); }
  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  /// True for direct and indirect users of the group's results.
  bool dependsOnGroup(mlir::Operation *op) const { return dependents.contains(op); }
  /// The group's operands that are sliced.
  llvm::ArrayRef<mlir::Value> getSliced() const { return sliced.getArrayRef(); }
  /// The results with users outside the group: one value per chunk, and sums over the chunks.
  llvm::ArrayRef<mlir::Value> getStacked() const { return stacked; }
  llvm::ArrayRef<mlir::Value> getSums() const { return sums; }

  /// The greatest common divisor of all sliced dimensions; the number of chunks must divide it. An
  /// operation may merge the dimension with others, so these sizes differ.
  int64_t getChunkableSize() const;

private:
  ChunkGroup(mlir::Block &block, mlir::StringAttr dim) : block(&block), dim(dim) {}

  bool isCandidate(mlir::Operation &op) const;
  /// Fills the group. Returns an operation that cannot be computed in chunks, or null.
  mlir::Operation *build(GetSize getSize);
  void findLargest(GetSize getSize);
  void collect(GetSize getSize);
  /// The factor of `op` that the loop slices; null if all chunks compute the same.
  const dist::Factor *findFactor(mlir::Operation *op, const dist::ShardingRule &rule) const;
  /// Infers the dependence of the results. False if the operation needs its operands whole.
  bool follow(mlir::Operation *op);
  void collectResults();
  mlir::Value findLargeOutside(GetSize getSize) const;
  bool isLarge(mlir::Value value, GetSize getSize) const;

  mlir::Block *block;
  mlir::StringAttr dim;
  const llvm::DenseSet<mlir::Operation *> *scope = nullptr; ///< null: the whole block
  llvm::SetVector<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Operation *> dependents;
  llvm::DenseMap<mlir::Value, Dependence> dependences;
  llvm::SetVector<mlir::Value> sliced;
  llvm::SmallVector<mlir::Value> stacked, sums;
  int64_t largest = 0; ///< in elements
};

} // namespace titan::ir
