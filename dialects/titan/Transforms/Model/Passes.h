// The model phase.
//
// compiler/lowering produces the IR of the model phase. The phase checks computed indices, groups
// contractions, adds the programs of generation, and verifies what the later phases assume. See
// Passes.td.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace titan {
class RunSettings;
} // namespace titan

namespace titan::ir {

#define GEN_PASS_DECL
#include "dialects/titan/Transforms/Model/Passes.h.inc"

/// Adds the passes of the phase, its verifier last. Of the run's settings, the phase reads only
/// `generate.batch`. titanc and titan-opt run the same pipeline.
void buildModelPhase(mlir::OpPassManager &manager, const RunSettings &settings);

void registerModelPasses();

} // namespace titan::ir
