// Lowers optimizers to private functions; `titan.updated_by` of a parameter names its function.
#ifndef TITAN_COMPILER_LOWERING_OPTIMIZERLOWERING_H
#define TITAN_COMPILER_LOWERING_OPTIMIZERLOWERING_H

#include "compiler/sema/runs/Optimizers.h"

#include "mlir/IR/Builders.h"

namespace titan::lowering {

/// Adds the functions to the module of `builder` and returns their symbols. The form of the
/// functions: dialects/titan/Transforms/Gradient/OptimizerFunction.h.
llvm::SmallVector<mlir::Attribute> lowerOptimizers(const sema::Updates &updates,
                                                   const SourceManager &sources,
                                                   mlir::OpBuilder &builder);

} // namespace titan::lowering

#endif
