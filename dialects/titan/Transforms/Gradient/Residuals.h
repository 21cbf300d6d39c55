// Residuals of a repeat.
//
// The backward body is first built with direct uses of values of the forward body. This class
// replaces these uses:
//
// - The iteration index and scanned inputs are read again. This needs no memory.
// - Elementwise operations and views are rematerialised, and operations with `titan.recompute` are
//   recomputed, from values that are stacked or read again. Training is limited by memory traffic,
//   not by arithmetic, and the copies fuse with their users.
// - The forward stacks values of least total size that suffice for this: a minimum cut between the
//   results of all other operations and the uses in the backward body. Their memory grows with the
//   number of layers.
//
// The operand of a view is stacked instead of the view. If a value has a sharding constraint, the
// constraint's result is stacked, since its sharding is known.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {

/// The residuals of one body and its backward body.
class Residuals {
public:
  /// `backward` is a block without a parent; its first argument is the iteration index.
  Residuals(RepeatVariant forward, mlir::Block &backward);

  /// Rewrites the uses in the backward body and appends block arguments: one per scanned input of
  /// the forward, used or not, then one per value of getStacked().
  void materialize();

  /// The values of the forward body that its yield must stack.
  llvm::ArrayRef<mlir::Value> getStacked() const { return yielded; }

private:
  bool isFromForward(mlir::Value value) const { return value.getParentBlock() == &body; }
  /// Finds the forward values that the backward body uses.
  void collectNeeded();
  bool isRescanned(mlir::Value value) const;
  std::optional<llvm::SmallVector<mlir::Value>> getSources(mlir::Value value) const;
  llvm::DenseSet<mlir::Value> findSmallest() const;
  void chooseStacked();
  /// The value in the backward body: an argument, or the result of a clone.
  mlir::Value getInBackward(mlir::Value value, mlir::OpBuilder &builder);
  void addResidualArguments(mlir::OpBuilder &builder);
  void sinkRecomputed();
  void rewriteUses(llvm::function_ref<mlir::Value(mlir::Value)> replace);

  RepeatVariant forward;
  unsigned numIterArgs;
  mlir::Block &body;
  mlir::Block &backward;
  llvm::SetVector<mlir::Value> needed;    ///< by the backward body
  llvm::SetVector<mlir::Value> stacked;   ///< those that the forward stacks
  llvm::SmallVector<mlir::Value> yielded; ///< `stacked` as the forward yields them
  /// Maps values of the forward body to values of the backward body.
  llvm::DenseMap<mlir::Value, mlir::Value> available;
  /// Copies of forward operations in the backward body, in topological order.
  llvm::SmallVector<mlir::Operation *> recomputed;
};

} // namespace titan::ir
