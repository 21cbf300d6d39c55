// Lowers optimizers to private functions; `titan.updated_by` of a parameter names its function.
#pragma once

#include "compiler/sema/runs/Optimizers.h"

#include "mlir/IR/Builders.h"

namespace titan::lowering {

/// Adds the functions to the module of `builder` and returns their symbols. The form of the
/// functions: dialects/titan/Transforms/Gradient/OptimizerFunction.h.
llvm::SmallVector<mlir::Attribute> lowerOptimizers(const sema::Updates &updates,
                                                   const SourceManager &sources,
                                                   mlir::OpBuilder &builder);

} // namespace titan::lowering
