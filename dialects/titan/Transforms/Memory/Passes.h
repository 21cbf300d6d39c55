// The memory phase.
//
// Assigns memory to every value and verifies the plan. MemoryPlan.h describes the plan, Passes.td
// the passes.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace titan {
class RunSettings;
} // namespace titan

namespace titan::memory {

#define GEN_PASS_DECL
#include "dialects/titan/Transforms/Memory/Passes.h.inc"

/// Adds the passes of the phase, its verifier last. Of the run's settings, the phase reads only
/// `offload`.
void buildMemoryPhase(mlir::OpPassManager &passes, const RunSettings &settings);

void registerMemoryPasses();

} // namespace titan::memory
