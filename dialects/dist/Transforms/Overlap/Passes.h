//===- Passes.h - The overlap phase -----------------------------*- C++ -*-===//
//
// Collectives are parted into a start and a wait, with computation between. It comes after the fuse
// phase, which reorders blocks, and before memory is planned, because what is in flight needs room
// of its own. See Passes.td and docs/phases/overlap.md.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_OVERLAP_PASSES_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_OVERLAP_PASSES_H

#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
}

namespace titan::dist {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/dist/Transforms/Overlap/Passes.h.inc"

/// The phase: the passes in order, closed by the verifier.
void buildOverlapPhase(mlir::OpPassManager &passes);

/// Registers the passes.
void registerOverlapPhase();

/// Whether the run asks for overlap; it does by default.
bool wantsOverlap(mlir::ModuleOp module);

/// The first channel that no collective in `operation` uses.
int64_t getFreeChannel(mlir::Operation *operation);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_OVERLAP_PASSES_H
