// How the values of a step depend on the microbatch.
//
// Dataflow analysis for gradient accumulation. Every value is invariant, sliced along one
// dimension, accumulated over the microbatches, or available only after accumulation (Chunks.h).
// The sharding rules determine the result: a microbatch divides a dimension in time as a shard
// divides it in space.
#pragma once

#include "dialects/titan/Transforms/Gradient/Chunks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {

/// The batch dependence of every value of a train program, and the operations that it concerns.
class BatchDependence {
public:
  /// Follows the dimension `dim` of the function's inputs. Emits an error at an operation that
  /// needs the whole batch inside the loop over microbatches.
  static mlir::FailureOr<BatchDependence> analyze(mlir::func::FuncOp function, mlir::StringAttr dim,
                                                  int64_t microbatches);

  Dependence getDependence(mlir::Value value) const { return dependences.lookup(value); }
  /// Repeats with operations of each microbatch and operations after accumulation: loop
  /// distribution must separate these.
  llvm::ArrayRef<RepeatOp> getRepeatsToDistribute() const {
    return repeatsToDistribute.getArrayRef();
  }
  /// Operations in repeats that sum inputs over the dimension. They must move before the repeat:
  /// the loop over microbatches will enclose the repeat, but needs the sums over the whole batch.
  llvm::ArrayRef<mlir::Operation *> getDataSumsInRepeats() const {
    return dataSumsInRepeats.getArrayRef();
  }
  /// Operations of the function's block that run once per microbatch.
  bool isInLoop(mlir::Operation *op) const { return inLoop.contains(op); }

private:
  BatchDependence(mlir::StringAttr dim, int64_t microbatches)
      : dim(dim), microbatches(microbatches) {}

  /// True if the dependence of `value` changes.
  bool set(mlir::Value value, Dependence dependence);
  bool isData(mlir::Operation *op) const;
  mlir::LogicalResult followBlock(mlir::Block &block);
  /// Finds the operations that the loop over microbatches contains.
  void collectLoop(mlir::Block &block);
  void closeLoop(mlir::Block &block);
  /// Infers the dependence of results from that of operands. The other methods `follow...` do so
  /// for one kind of operation.
  mlir::LogicalResult follow(mlir::Operation *op);
  mlir::LogicalResult followRepeat(RepeatOp repeat);
  mlir::LogicalResult followBody(const RepeatVariant &body, bool &changed);
  mlir::LogicalResult followStackedOutput(RepeatOp repeat, mlir::OpResult stack);
  mlir::LogicalResult followSliced(mlir::Operation *op);
  void computeBeforeLoop(mlir::Operation *op);
  bool isLinearInSums(mlir::Operation *op) const;
  bool mayCreatePerMicrobatch(mlir::Operation *op) const;
  mlir::LogicalResult followInvariant(mlir::Operation *op);
  void setResults(mlir::Operation *op, Dependence dependence);
  /// Joins `next` into the dependence `into`. Fails with an error at `repeat` if they differ.
  mlir::LogicalResult join(RepeatOp repeat, Dependence next, Dependence &into);
  /// Whether an operand has this kind of dependence.
  bool hasKind(mlir::Operation *op, Dependence::Kind kind) const;

  mlir::StringAttr dim;
  int64_t microbatches;
  llvm::DenseMap<mlir::Value, Dependence> dependences;
  llvm::DenseSet<mlir::Value> data; ///< computed from inputs only
  llvm::DenseSet<mlir::Operation *> inLoop;
  llvm::SetVector<RepeatOp> repeatsToDistribute;
  llvm::SetVector<mlir::Operation *> dataSumsInRepeats;
};

/// Whether `op`, or an operation in its regions, reads a result of an operation of `block` that is
/// among `producers`.
bool readsAny(mlir::Operation *op, mlir::Block &block,
              const llvm::DenseSet<mlir::Operation *> &producers);

} // namespace titan::ir
