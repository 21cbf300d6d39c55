//===- Passes.h - The gradient phase ----------------------------*- C++ -*-===//
//
// From the forward pass to the whole training step: gradients, chunked loss, gradient accumulation,
// clipping and optimizer. The phase runs on the global program, before the shard phase. Propagation
// therefore treats forward and backward alike, and cotangents need no sharding of their own. See
// Passes.td.
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
/// On a train program, input of --titan-accumulate: `{dim = "batch", microbatches = 4}`.
inline constexpr llvm::StringLiteral kAccumulate = "titan.accumulate";
/// On a train program, input of --titan-chunk-loss: the number of chunks. 0 or absent: the pass
/// chooses.
inline constexpr llvm::StringLiteral kLossChunks = "titan.loss_chunks";
/// With an absent or zero `titan.loss_chunks`: values up to this size on a rank stay whole.
/// Default: 32 MiB.
inline constexpr llvm::StringLiteral kMinChunkBytes = "titan.min_chunk_bytes";
} // namespace attr

#define GEN_PASS_DECL
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"

/// Adds the passes of the phase, its verifier last. titanc and titan-opt run the same pipeline.
void buildGradientPhase(mlir::OpPassManager &manager);

void registerGradientPasses();

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_GRADIENT_PASSES_H
