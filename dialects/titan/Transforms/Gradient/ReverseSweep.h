// Reverse-mode differentiation of a block.
//
// Visits the operations of a block in reverse order, builds the cotangents of their operands
// (DifferentiableOpInterface), and adds the contributions of several uses. Values from outside the
// block get cotangents, too. The caller uses those of a function's parameters and a repeat's
// captures.
#pragma once

#include "dialects/titan/Transforms/Gradient/Activity.h"
#include "llvm/ADT/MapVector.h"

namespace titan::ir {

/// The cotangents that the sweep over a block has accumulated.
class ReverseSweep {
public:
  /// Operations are built at the insertion point of `builder`.
  ReverseSweep(mlir::OpBuilder &builder, Activity &activity)
      : builder(builder), activity(activity) {}

  /// Adds `contribution` to the cotangent of `value`, if it is active.
  void accumulate(mlir::Value value, mlir::Value contribution);
  /// The sum of the contributions so far; null if there are none.
  mlir::Value lookup(mlir::Value value) const { return cotangents.lookup(value); }
  /// Differentiates all operations of `block` except its terminator.
  mlir::LogicalResult run(mlir::Block &block);
  /// Transfers the cotangent of `value`, which is about to be erased, to `copy`.
  void replace(mlir::Value value, mlir::Value copy);
  /// The active values defined outside `region` that have a cotangent, in order of their first
  /// contribution.
  llvm::SmallVector<mlir::Value> getCaptured(mlir::Region &region) const;

  mlir::OpBuilder &getBuilder() { return builder; }
  Activity &getActivity() { return activity; }

private:
  mlir::LogicalResult visit(mlir::Operation &op);

  mlir::OpBuilder &builder;
  Activity &activity;
  llvm::MapVector<mlir::Value, mlir::Value> cotangents;
};

/// Builds the backward repeat of `repeat` from the cotangents of its results, and adds the
/// cotangents of its operands and captures to `sweep`. Replaces `repeat` by one that also stacks
/// the residuals.
mlir::LogicalResult differentiateRepeat(RepeatOp repeat, llvm::ArrayRef<mlir::Value> cotangents,
                                        ReverseSweep &sweep);

/// Erases the dead operations of `region`, nested ones included.
void eraseDeadOps(mlir::Region &region);

} // namespace titan::ir
