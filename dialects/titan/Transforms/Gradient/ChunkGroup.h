//===- ChunkGroup.h - What is computed in chunks of a dimension ---*- C++ -*-===//
//
// The logits of a large vocabulary, their exponentials and their gradient are the largest values of
// a step, and nothing needs them whole: what makes and reads them can run once for each chunk of
// the sequence. This finds these operations, from the sizes of values and the sharding rules alone.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CHUNKGROUP_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CHUNKGROUP_H

#include "dialects/dist/Analysis/ShardingRule.h"
#include "dialects/titan/Transforms/Gradient/Chunks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {

class ChunkGroup {
public:
  /// Elements of a value on one rank.
  using SizeOf = llvm::function_ref<int64_t(mlir::Value)>;

  /// What stands in the way, and where.
  struct Obstacle {
    mlir::Operation *op = nullptr;
    std::string why;
  };

  /// Of `block`: the operations that make or read values with the dimension `dim` of more than half
  /// the size of the largest, and what lies between these. Fails if they cannot be computed a chunk
  /// of `dim` at a time, or if whole values of that size would remain.
  static mlir::FailureOr<ChunkGroup> find(mlir::Block &block, mlir::StringAttr dim, SizeOf sizeOf,
                                          Obstacle &obstacle);
  /// The same of `scope` alone; the largest that no repeat gives counts, and whole values of that
  /// size may remain.
  static mlir::FailureOr<ChunkGroup> findIn(const llvm::DenseSet<mlir::Operation *> &scope,
                                            mlir::Block &block, mlir::StringAttr dim, SizeOf sizeOf,
                                            Obstacle &obstacle);

  Dependence get(mlir::Value value) const { return dependences.lookup(value); }
  /// In the order of the block.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops.getArrayRef(); }
  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  /// Operations that read results of the group, from near or far.
  bool dependsOnGroup(mlir::Operation *op) const { return dependents.contains(op); }
  /// What comes from outside and is sliced.
  llvm::ArrayRef<mlir::Value> getSliced() const { return sliced.getArrayRef(); }
  /// What is read outside: values of all chunks, and sums over them.
  llvm::ArrayRef<mlir::Value> getStacked() const { return stacked; }
  llvm::ArrayRef<mlir::Value> getSums() const { return sums; }

  /// What the number of chunks must divide: the dimension may be merged with others on its way.
  int64_t getSize() const;

private:
  ChunkGroup(mlir::Block &block, mlir::StringAttr dim) : block(&block), dim(dim) {}

  bool isCandidate(mlir::Operation &op) const;
  mlir::Operation *build(SizeOf sizeOf);
  void findLargest(SizeOf sizeOf);
  void collect(SizeOf sizeOf);
  const dist::Factor *findFactor(mlir::Operation *op, const dist::ShardingRule &rule) const;
  bool follow(mlir::Operation *op);
  void followResults();
  mlir::Value findLargeOutside(SizeOf sizeOf) const;
  bool isLarge(mlir::Value value, SizeOf sizeOf) const;

  mlir::Block *block;
  mlir::StringAttr dim;
  const llvm::DenseSet<mlir::Operation *> *scope = nullptr; ///< null: the whole block
  llvm::SetVector<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Operation *> dependents;
  llvm::DenseMap<mlir::Value, Dependence> dependences;
  llvm::SetVector<mlir::Value> sliced;
  llvm::SmallVector<mlir::Value> stacked, sums;
  int64_t largest = 0; ///< elements
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_CHUNKGROUP_H
