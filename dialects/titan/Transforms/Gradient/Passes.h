//===- Passes.h - The gradient phase ----------------------------*- C++ -*-===//
//
// From the forward pass to the whole training step, on the global program: gradients, clipping,
// optimizer. It comes before anything is mapped to a mesh, so that the backward is partitioned by
// the same rules as the forward and nobody places a cotangent by hand. See Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PASSES_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace titan::ir {

namespace attr {
/// On a train program, until --titan-accumulate cuts the batch: `{dim = "batch", parts = 4}`.
inline constexpr llvm::StringLiteral kAccumulate = "titan.accumulate";
/// On a train program, until --titan-chunk-loss: into how many parts the largest values are
/// cut; 0 or nothing: as many as memory gains by.
inline constexpr llvm::StringLiteral kLossChunks = "titan.loss_chunks";
/// Besides: up to so many bytes on a rank such a choice leaves values whole. None: 32 MiB.
inline constexpr llvm::StringLiteral kMinChunkBytes = "titan.min_chunk_bytes";
} // namespace attr

#define GEN_PASS_DECL
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"

/// The phase, in order, closed by its verifier. titanc and titan-opt run the same.
void buildGradientPhase(mlir::OpPassManager &manager);

/// Registers the passes.
void registerGradientPasses();

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PASSES_H
