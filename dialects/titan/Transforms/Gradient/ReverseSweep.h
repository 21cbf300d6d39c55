//===- ReverseSweep.h - Cotangents of a block's values ----------*- C++ -*-===//
//
// The heart of reverse mode: walks a block's operations backwards and asks each for its operands'
// cotangents (DifferentiableOpInterface), adding up what several uses contribute. Values from
// outside the block collect cotangents like any other; who owns the block decides what becomes of
// them (parameters of a function, captures of a repeat).
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_REVERSESWEEP_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_REVERSESWEEP_H

#include "dialects/titan/Transforms/Gradient/Activity.h"
#include "llvm/ADT/MapVector.h"

namespace titan::ir {

class ReverseSweep {
public:
  /// Operations are built where `builder` stands.
  ReverseSweep(mlir::OpBuilder &builder, Activity &activity)
      : builder(builder), activity(activity) {}

  /// Adds `contribution` to the cotangent of `value`, if it is active.
  void accumulate(mlir::Value value, mlir::Value contribution);
  /// The cotangent collected so far; null where nothing flowed.
  mlir::Value lookup(mlir::Value value) const { return cotangents.lookup(value); }
  /// Differentiates all operations of `block` but its terminator, last to first.
  mlir::LogicalResult run(mlir::Block &block);
  /// Says that `copy` stands for `value`, which is about to be erased.
  void replace(mlir::Value value, mlir::Value copy);
  /// The active values that are defined outside `region` and have a cotangent, in order of use.
  llvm::SmallVector<mlir::Value> getCaptured(mlir::Region &region) const;

  mlir::OpBuilder &getBuilder() { return builder; }
  Activity &getActivity() { return activity; }

private:
  mlir::LogicalResult visit(mlir::Operation &op);

  mlir::OpBuilder &builder;
  Activity &activity;
  llvm::MapVector<mlir::Value, mlir::Value> cotangents;
};

/// Builds the backward repeat of `repeat` from its results' cotangents, gives `sweep` those of its
/// operands and captures, and replaces `repeat` by one that also stacks the residuals.
mlir::LogicalResult differentiateRepeat(RepeatOp repeat, llvm::ArrayRef<mlir::Value> cotangents,
                                        ReverseSweep &sweep);

/// Erases operations of `region`, at any depth, whose results are not used.
void eraseDeadOps(mlir::Region &region);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_REVERSESWEEP_H
