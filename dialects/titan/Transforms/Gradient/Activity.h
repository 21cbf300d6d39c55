//===- Activity.h - Which values need a cotangent ---------------*- C++ -*-===//
//
// A value is active if it depends, through floating-point values, on a parameter that is trained
// (not `titan.frozen`). Cotangents of other values are not built, so a frozen parameter costs no
// gradient and an expression of constants costs nothing at all.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_ACTIVITY_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_ACTIVITY_H

#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace titan::ir {

class Activity {
public:
  /// Marks the values of `function`; repeats are walked until their carried values settle.
  explicit Activity(mlir::func::FuncOp function);

  bool isActive(mlir::Value value) const { return active.contains(value); }
  /// Says that `copy` stands for `value`, which is about to be erased.
  void replace(mlir::Value value, mlir::Value copy);

private:
  void visit(mlir::Block &block);
  void visit(RepeatOp repeat);
  /// Marks `value` if it is of floating point and `source` says so; true if it was not marked yet.
  bool mark(mlir::Value value, bool source);

  llvm::DenseSet<mlir::Value> active;
};

/// Which of a repeat's carried values can influence a result that has a cotangent (`cotangents`:
/// one per result, null where nothing flows), in any number of iterations.
llvm::SmallVector<bool> findReachingIterArgs(RepeatOp repeat,
                                             llvm::ArrayRef<mlir::Value> cotangents);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_ACTIVITY_H
