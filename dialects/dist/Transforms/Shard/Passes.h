//===- Passes.h - The shard phase -------------------------------*- C++ -*-===//
//
// From the global program to what a rank computes: shardings in every type, collectives explicit.
// See docs/design.md, "Shard", and Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_PASSES_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_PASSES_H

#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
}

namespace titan::dist {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/dist/Transforms/Shard/Passes.h.inc"

/// The phase: the passes in order, closed by the verifier.
void buildShardPhase(mlir::OpPassManager &passes);

/// Registers the passes.
void registerShardPhase();

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_PASSES_H
