// Stacks that may share memory.
//
// A repeat that consumes one stack while it produces another needs less memory than both stacks.
// `--titan-plan-memory` lists such pairs of stacks on the repeat, with the offset constraints that
// keep live slots disjoint for all slot sizes (base/arena/OffsetConstraints.h):
//
//   titan.stack_overlaps = [{consumed = array<i64: 3, 4>, produced = array<i64: 9>,
//                            slots = array<i64: 6, 6>, above = array<i64: 6, 5, 1, 0>,
//                            below = array<i64: 6, 0>}]
//
// Allocations 3 and 4 are consumed, allocation 9 is produced, and each has 6 slots. `above` and
// `below` are lists of constraints, two numbers each. `--titan-verify-memory` checks the
// constraints iteration by iteration.
#pragma once

#include "base/arena/OffsetConstraints.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::memory {

using ir::attr::kStackOverlaps;

mlir::Attribute packStackOverlap(mlir::MLIRContext *context, const arena::StackOverlap &overlap);
/// Fails if `packStackOverlap` cannot have produced `attribute`.
mlir::FailureOr<arena::StackOverlap> unpackStackOverlap(mlir::Attribute attribute);

/// The valid stack overlaps of all repeats of a function.
std::vector<arena::StackOverlap> getStackOverlaps(mlir::func::FuncOp function);

/// The number of repeats that enclose `repeat`: its level in allocation references.
int64_t getLevel(ir::RepeatOp repeat);

/// True if the slots of a stack have equal sizes and are contiguous on every rank.
bool hasEqualSlots(ir::NamedTensorType stack);

/// True unless `op` starts a collective that outlives its block: each started collective is waited
/// for in the same iteration.
bool endsInBlock(mlir::Operation *op);

/// Rejects stack overlaps in which an iteration would overwrite a live slot.
mlir::LogicalResult verifyStackOverlaps(mlir::func::FuncOp function);

} // namespace titan::memory
