//===- BatchDependence.h - What the values of a step have to do with the batch -*- C++ -*-===//
//
// Whether a step may be computed a microbatch of the batch at a time, and what of it: every value
// is the same for all microbatches, or is cut along one of its dimensions, or is a sum over the
// microbatches, or needs such a sum complete. Follows from the sharding rules alone: a microbatch
// of the batch is to time what a shard of it is to a mesh axis.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_BATCHDEPENDENCE_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_BATCHDEPENDENCE_H

#include "dialects/titan/Transforms/Gradient/Chunks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {

class BatchDependence {
public:
  /// Follows the dimension `dim` of the function's inputs. Fails with an error at an operation that
  /// needs the whole batch while microbatches of it are computed. Repeats may compute something
  /// from sums over all microbatches that they only stack: getToDistribute() are those, inner ones
  /// first. They are to be parted (LoopDistribution.h) before the step can be.
  static mlir::FailureOr<BatchDependence> analyze(mlir::func::FuncOp function, mlir::StringAttr dim,
                                                  int64_t microbatches);

  Dependence get(mlir::Value value) const { return dependences.lookup(value); }
  llvm::ArrayRef<RepeatOp> getToDistribute() const { return toDistribute.getArrayRef(); }
  /// Operations of the function's block that run once for each microbatch.
  bool isInLoop(mlir::Operation *op) const { return inLoop.contains(op); }

private:
  BatchDependence(mlir::StringAttr dim, int64_t microbatches)
      : dim(dim), microbatches(microbatches) {}

  bool set(mlir::Value value, Dependence dependence);
  bool isData(mlir::Operation *op) const;
  mlir::LogicalResult followBlock(mlir::Block &block);
  mlir::LogicalResult follow(mlir::Operation *op);
  mlir::LogicalResult followRepeat(RepeatOp repeat);
  mlir::LogicalResult followBody(const RepeatVariant &body, bool &changed);
  mlir::LogicalResult followStackedOutput(RepeatOp repeat, mlir::OpResult stack);
  mlir::LogicalResult followSliced(mlir::Operation *op);
  bool isLinearInSums(mlir::Operation *op) const;
  bool mayCreatePerMicrobatch(mlir::Operation *op) const;
  mlir::LogicalResult followInvariant(mlir::Operation *op);
  void setResults(mlir::Operation *op, Dependence dependence);
  mlir::LogicalResult join(RepeatOp repeat, Dependence next, Dependence &into);
  bool hasKind(mlir::Operation *op, Dependence::Kind kind) const;

  mlir::StringAttr dim;
  int64_t microbatches;
  llvm::DenseMap<mlir::Value, Dependence> dependences;
  llvm::DenseSet<mlir::Value> data; ///< depends on inputs alone
  llvm::DenseSet<mlir::Operation *> inLoop;
  llvm::SetVector<RepeatOp> toDistribute;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_BATCHDEPENDENCE_H
