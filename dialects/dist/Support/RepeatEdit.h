// Repeats with more inputs or outputs.
//
// Rebuilds repeats for passes that move values across iterations or between repeats.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::dist {

/// Appends iteration arguments that start as `inits`. Each body yields them unchanged.
ir::RepeatOp addIterArgs(ir::RepeatOp repeat, mlir::ValueRange inits);

/// Gives iterations whose numbers differ modulo `count` different bodies, copies of their former
/// ones. The results are the same.
ir::RepeatOp splitVariants(ir::RepeatOp repeat, int64_t count);

/// A stack and the variants that scan it.
using VariantStack = std::pair<mlir::Value, llvm::SmallVector<int64_t>>;

/// Appends these stacks as scanned inputs of these variants.
ir::RepeatOp addScannedInputs(ir::RepeatOp repeat, llvm::ArrayRef<VariantStack> stacks);

/// Removes scanned inputs whose slots no variant uses.
ir::RepeatOp removeUnusedScannedInputs(ir::RepeatOp repeat);

/// Appends stacked outputs of these values of the bodies.
ir::RepeatOp addStackedOutputs(ir::RepeatOp repeat, mlir::ValueRange values);

/// The parameter of the function that `value` is, or of which `value` is a slot; null if there is
/// none.
mlir::BlockArgument getParameter(mlir::Value value);

} // namespace titan::dist
