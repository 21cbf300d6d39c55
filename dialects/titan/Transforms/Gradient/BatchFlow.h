//===- BatchFlow.h - What the values of a step have to do with the batch -*- C++ -*-===//
//
// Whether a step may be computed a part of the batch at a time, and what of it: every value is the
// same for all parts, or is cut along one of its dimensions, or is a sum over the parts, or needs
// such a sum complete. Follows from the sharding rules alone: a part of the batch is to time what a
// shard of it is to a mesh axis.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_BATCHFLOW_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_BATCHFLOW_H

#include "dialects/titan/Transforms/Gradient/Parts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {

class BatchFlow {
public:
  /// Follows the dimension `dim` of the function's inputs. Fails with an error at an operation that
  /// needs the whole batch while parts of it are computed. Repeats may compute something from sums
  /// over all parts that they only stack: getMixed() are those, inner ones first. They are to be
  /// parted (RepeatTail.h) before the step can be.
  static mlir::FailureOr<BatchFlow> analyze(mlir::func::FuncOp function, mlir::StringAttr dim,
                                            int64_t parts);

  Flow get(mlir::Value value) const { return flows.lookup(value); }
  llvm::ArrayRef<RepeatOp> getMixed() const { return mixed.getArrayRef(); }
  /// Operations of the function's block that run once for each part.
  bool isInLoop(mlir::Operation *op) const { return inLoop.contains(op); }

private:
  BatchFlow(mlir::StringAttr dim, int64_t parts) : dim(dim), parts(parts) {}

  bool set(mlir::Value value, Flow flow);
  bool isData(mlir::Operation *op) const;
  mlir::LogicalResult followBlock(mlir::Block &block);
  mlir::LogicalResult follow(mlir::Operation *op);
  mlir::LogicalResult followRepeat(RepeatOp repeat);
  mlir::LogicalResult followBody(const RepeatVariant &body, bool &changed);
  mlir::LogicalResult followStack(RepeatOp repeat, mlir::OpResult stack);
  mlir::LogicalResult followSplit(mlir::Operation *op);
  bool passesSums(mlir::Operation *op) const;
  bool mayMakeParts(mlir::Operation *op) const;
  mlir::LogicalResult followWhole(mlir::Operation *op);
  void setResults(mlir::Operation *op, Flow flow);
  mlir::LogicalResult join(RepeatOp repeat, Flow next, Flow &into);
  bool hasKind(mlir::Operation *op, Flow::Kind kind) const;

  mlir::StringAttr dim;
  int64_t parts;
  llvm::DenseMap<mlir::Value, Flow> flows;
  llvm::DenseSet<mlir::Value> data; ///< depends on inputs alone
  llvm::DenseSet<mlir::Operation *> inLoop;
  llvm::SetVector<RepeatOp> mixed;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_BATCHFLOW_H
