// The memory plan as attributes.
//
// The attributes that `--titan-plan-memory` writes and emission reads. The plan consists of
// attributes, so that it can be printed, tested and interpreted:
//   titan.result_allocs    on an operation: a #titan.alloc_ref per result
//   titan.argument_allocs  on a function or repeat: a #titan.alloc_ref per block argument, body by
//                          body; on a return: the destination of each operand
//   titan.scratch          on an operation: its scratch allocations; on a collective one per value,
//                          inline where the value needs none
//   titan.transient        on a function: its transient allocations
//   titan.events           on a function: the number of events of its linear order
//   titan.persistent       on the module: the persistent allocations, shared by all functions
// A yield or return copies each operand whose allocation differs from its destination.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace mlir::func {
class FuncOp;
}

namespace titan::memory {

using ir::attr::kArgumentAllocs;
using ir::attr::kEvents;
using ir::attr::kPersistent;
using ir::attr::kResultAllocs;
using ir::attr::kScratch;
using ir::attr::kTransient;

/// The memory of an allocation on the host (`on "host"`).
constexpr llvm::StringLiteral kHostMemory = "host";
/// Whether the allocation is in memory of the host, which a device accesses directly.
inline bool isOnHost(ir::AllocationAttr allocation) {
  return bool(allocation.getMemory());
}

/// The allocation of `value`; null before the memory phase and inside fused operations.
ir::AllocRefAttr getAllocRef(mlir::Value value);

/// True for values that need no memory: constants and iotas whose users compute element by element,
/// so that each user can evaluate them.
bool isInline(mlir::Value value);

/// Rejects malformed attributes and references to allocations or slots that do not exist. With
/// `isComplete`, also rejects missing attributes.
mlir::LogicalResult verifyAllocRefs(mlir::func::FuncOp function, bool isComplete);

} // namespace titan::memory
