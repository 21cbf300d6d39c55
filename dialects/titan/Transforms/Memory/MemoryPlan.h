//===- MemoryPlan.h - Where values lie, as attributes -----------*- C++ -*-===//
//
// What `--titan-plan-memory` writes and emission reads. Attributes, not a side table, so that a
// plan is printed, tested and interpreted like everything else:
//   titan.result_allocs     on an operation: a #titan.alloc_ref per result
//   titan.argument_allocs  on a function or repeat: a #titan.alloc_ref per argument of its block,
//   body by
//                    body
//   titan.scratch    on an operation that needs memory of its own while it runs: its places; of a
//                    collective one per value, inline where it needs none
//   titan.transient    on a function: its transient buffers, with the length of its linear order in
//                    titan.events
//   titan.persistent on the module: buffers that live from step to step, shared by all functions
// Yields and returns copy the values that do not lie where they must; what is already there is
// free.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_MEMORYPLAN_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_MEMORYPLAN_H

#include "dialects/titan/IR/Titan.h"

#include <memory>

namespace mlir::func {
class FuncOp;
}

namespace mlir {
class OpPassManager;
class Pass;
} // namespace mlir

namespace titan::memory {

inline constexpr llvm::StringLiteral kResultAllocs = "titan.result_allocs";
inline constexpr llvm::StringLiteral kArgumentAllocs = "titan.argument_allocs";
inline constexpr llvm::StringLiteral kScratch = "titan.scratch";
inline constexpr llvm::StringLiteral kTransient = "titan.transient";
inline constexpr llvm::StringLiteral kEvents = "titan.events";
inline constexpr llvm::StringLiteral kPersistent = "titan.persistent";

/// The place that the plan gives `value`; null where there is none (before the memory phase, and
/// inside of fused operations).
ir::AllocRefAttr getAllocRef(mlir::Value value);

/// True for values that need no memory: constants and iotas whose users compute element by element,
/// and so evaluate them where they need one.
bool isInline(mlir::Value value);

/// Refuses attributes of a plan that are not what they must be, or name buffers or slots that there
/// are not; with `isComplete` also a plan that lacks something.
mlir::LogicalResult verifyAllocRefs(mlir::func::FuncOp function, bool isComplete);

std::unique_ptr<mlir::Pass> createSequentializeCopiesPass();
std::unique_ptr<mlir::Pass> createPlanMemoryPass();
std::unique_ptr<mlir::Pass> createVerifyMemoryPass();

/// The phase: copies where values change places, the plan, closed by the verifier.
void buildMemoryPhase(mlir::OpPassManager &passes);

/// Registers the passes.
void registerMemoryPasses();

} // namespace titan::memory

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_MEMORYPLAN_H
