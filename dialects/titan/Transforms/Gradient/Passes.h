// The gradient phase.
//
// From the forward pass to the whole training step: gradients, chunked loss, gradient accumulation,
// clipping and optimizer. The phase runs on the global program, before the shard phase. Propagation
// therefore infers the shardings of cotangents as it does those of forward values. See Passes.td.
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
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"

/// Adds the passes of the phase, its verifier last, with the options that the run sets. titanc and
/// titan-opt run the same pipeline.
void buildGradientPhase(mlir::OpPassManager &manager, const RunSettings &settings);

void registerGradientPasses();

} // namespace titan::ir
