// The shard phase.
//
// Lowers the global program to the program of one rank, with shardings in all types and explicit
// collectives. See docs/design.md, "Shard", and Passes.td.
#pragma once

#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
}

namespace titan {
class RunSettings;
} // namespace titan

namespace titan::dist {

/// Which parameters the backward pass gathers again.
enum class ReshardPolicy { Default, Always, Never };

/// Which collectives of activations are divided into chunks.
enum class ChunkPolicy { Never, Auto, Always };

/// When the collectives of parameters and gradients run in a step with microbatches.
enum class CollectiveTime { Auto, Step, Microbatch };

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/dist/Transforms/Shard/Passes.h.inc"

/// Adds the passes in order, the verifier last, with the options that the run sets.
void buildShardPhase(mlir::OpPassManager &passes, const RunSettings &settings);

/// Registers the passes.
void registerShardPhase();

} // namespace titan::dist
