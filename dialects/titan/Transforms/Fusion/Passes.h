// The fuse phase.
//
// Between two matrix products there are many elementwise operations and reductions. Executed one by
// one, each of them moves whole tensors through memory. The phase fuses operations over the same
// rows into one region. See Passes.td.
#pragma once

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace titan {
class RunSettings;
} // namespace titan

namespace titan::fusion {

#define GEN_PASS_DECL
#include "dialects/titan/Transforms/Fusion/Passes.h.inc"

/// Adds the passes of the phase. No setting of the run concerns them.
void buildFusePhase(mlir::OpPassManager &passes, const RunSettings &settings);

void registerFusionPasses();

} // namespace titan::fusion
