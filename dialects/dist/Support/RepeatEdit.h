//===- RepeatEdit.h - A repeat that carries or stacks more ------*- C++ -*-===//
//
// What passes need that move values across iterations or from one repeat to another.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_REPEATEDIT_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_REPEATEDIT_H

#include "dialects/titan/IR/Titan.h"

namespace titan::dist {

/// Replaces `repeat` by one that also carries `inits`, behind what it carries: each body yields
/// what it gets.
ir::RepeatOp addIterArgs(ir::RepeatOp repeat, mlir::ValueRange inits);

/// A stack and the variant that uses it.
using VariantStack = std::pair<mlir::Value, unsigned>;

/// Replaces `repeat` by one that gives these variants slices of these stacks, behind their others.
ir::RepeatOp addScannedInputs(ir::RepeatOp repeat, llvm::ArrayRef<VariantStack> stacks);

/// Replaces `repeat` by one that stacks these values of its bodies, behind its other results.
ir::RepeatOp addStackedOutputs(ir::RepeatOp repeat, mlir::ValueRange values);

/// The function's parameter that `value` is, or that a repeat gave it slices of; else null.
mlir::BlockArgument getParameter(mlir::Value value);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_REPEATEDIT_H
