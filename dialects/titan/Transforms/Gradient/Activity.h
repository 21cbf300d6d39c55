// Activity analysis of reverse mode.
//
// A value is active if it depends, through floating-point values, on a trained parameter. Only
// active values get a cotangent. Frozen parameters and constant expressions therefore cost no
// gradient.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace titan::ir {

/// The active values of a function.
class Activity {
public:
  /// Marks the values of `function`; iterates over a repeat until its iteration arguments settle.
  explicit Activity(mlir::func::FuncOp function);

  bool isActive(mlir::Value value) const { return active.contains(value); }
  /// Transfers the mark of `value`, which is about to be erased, to `copy`.
  void replace(mlir::Value value, mlir::Value copy);

private:
  void visit(mlir::Block &block);
  void visit(RepeatOp repeat);
  /// Marks `value` if `dependsOnActive` and it has a floating-point type. True if the mark is new.
  bool mark(mlir::Value value, bool dependsOnActive);

  llvm::DenseSet<mlir::Value> active;
};

/// The iteration arguments of a repeat that can influence a result with a cotangent in any number
/// of iterations. `cotangents` has one entry per result, null where the result has none.
llvm::SmallVector<bool> findReachingIterArgs(RepeatOp repeat,
                                             llvm::ArrayRef<mlir::Value> cotangents);

} // namespace titan::ir
