// The model phase.
//
// compiler/lowering produces the IR of the model phase. The phase adds checks of computed indices
// and verifies what the later phases assume. See Passes.td.
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

/// Adds the passes of the phase: index checks, grouped contractions, programs of generation,
/// FLOPs of the model, the verifier. No setting of the run concerns them. titanc and titan-opt run
/// the same pipeline.
void buildModelPhase(mlir::OpPassManager &manager, const RunSettings &settings);

void registerModelPasses();

} // namespace titan::ir
