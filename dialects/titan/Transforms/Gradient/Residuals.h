//===- Residuals.h - What a repeat's backward needs of its forward -*- C++ -*-===//
//
// The backward body is first built as if it could see the values of the forward body. This class
// makes that true, choosing for each value it uses the cheapest source:
//
//   - the index, and slices (of parameters, mostly), are taken again: no memory;
//   - an elementwise operation or a view is computed again if all it needs is at hand: memory
//     traffic, not arithmetic, is what training is short of, and these fuse with their users;
//   - an operation marked `titan.recompute` is computed again from what it needs, which is kept;
//   - everything else is stacked by the forward: this memory grows with the number of layers.
//
// A view is never stacked, its operand is. A value that a sharding constraint repeats is stacked as
// the constraint, whose sharding is declared.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_RESIDUALS_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_RESIDUALS_H

#include "dialects/titan/IR/Titan.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {

class Residuals {
public:
  /// `backward` is a block outside any operation; its first argument is the index.
  Residuals(RepeatVariant forward, mlir::Block &backward);

  /// Rewrites the uses in the backward body. New arguments go to its end: one for each slice that
  /// the forward takes, used or not, then one for each value of getStacked().
  void materialize();

  /// Values of the forward body that its yield must stack.
  llvm::ArrayRef<mlir::Value> getStacked() const { return yielded; }

private:
  bool isFromForward(mlir::Value value) const { return value.getParentBlock() == &body; }
  void collectNeeded();
  void need(mlir::Value value);
  bool isRescanned(mlir::Value value) const;
  bool isAvailable(mlir::Value value) const;
  bool isRecomputed(mlir::Value value) const;
  mlir::Value getInBackward(mlir::Value value, mlir::OpBuilder &builder);
  void addResidualArguments(mlir::OpBuilder &builder);
  void sinkRecomputed();
  void rewriteUses(llvm::function_ref<mlir::Value(mlir::Value)> replace);

  RepeatVariant forward;
  unsigned numIterArgs;
  mlir::Block &body;
  mlir::Block &backward;
  llvm::SetVector<mlir::Value> needed;
  llvm::SetVector<mlir::Value> stacked;
  llvm::SmallVector<mlir::Value> yielded; ///< these, as the forward yields them
  /// From values of the forward body to those of the backward body.
  llvm::DenseMap<mlir::Value, mlir::Value> available;
  /// Copies of forward operations in the backward body, operands before users.
  llvm::SmallVector<mlir::Operation *> recomputed;
};

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_RESIDUALS_H
