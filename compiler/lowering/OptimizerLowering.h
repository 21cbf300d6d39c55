// Optimizers as private functions of the module, of which parameters name theirs.
#ifndef TITAN_COMPILER_LOWERING_OPTIMIZERLOWERING_H
#define TITAN_COMPILER_LOWERING_OPTIMIZERLOWERING_H

#include "compiler/sema/runs/Optimizers.h"

#include "mlir/IR/Builders.h"

namespace titan::lowering {

/// Adds each function to the module at hand, and gives their symbols
/// (dialects/titan/Transforms/Gradient/OptimizerFunction.h says what they look like).
llvm::SmallVector<mlir::Attribute> lowerOptimizers(const sema::Updates &updates,
                                                   const SourceManager &sources,
                                                   mlir::OpBuilder &builder);

} // namespace titan::lowering

#endif
