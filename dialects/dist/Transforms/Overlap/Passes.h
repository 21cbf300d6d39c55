// The overlap phase.
//
// Splits collectives into start and wait with computation in between. The phase follows the fuse
// phase, which reorders blocks. It precedes memory planning, because values in flight extend live
// ranges. See Passes.td and docs/phases/overlap.md.
#pragma once

#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
}

namespace titan {
class RunSettings;
} // namespace titan

namespace titan::dist {

/// When communication overlaps with computation.
enum class Overlap { Always, Never };

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/dist/Transforms/Overlap/Passes.h.inc"

/// Adds the passes in order, the verifier last, with the options that the run sets.
void buildOverlapPhase(mlir::OpPassManager &passes, const RunSettings &settings);

/// Registers the passes.
void registerOverlapPhase();

/// The first channel that no collective inside `operation` uses.
int64_t getFreeChannel(mlir::Operation *operation);

} // namespace titan::dist
