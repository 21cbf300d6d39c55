//===- Passes.h - The model phase ------------------------------*- C++ -*-===//
//
// Lowering writes the model phase's IR (compiler/lowering); what is left to do is to check indices
// where they are computed, and what every later phase builds on. See Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_MODEL_PASSES_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_MODEL_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace titan::ir {

#define GEN_PASS_DECL
#include "dialects/titan/Transforms/Model/Passes.h.inc"

/// The phase: checks of indices, what the model alone decides is noted, then the verifier. titanc
/// and titan-opt run the same.
void buildModelPhase(mlir::OpPassManager &manager);

/// Registers the passes.
void registerModelPasses();

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_MODEL_PASSES_H
