// Stacks that may share memory.
//
// A repeat that consumes stacks while it produces others needs less memory than all these stacks.
// `--titan-plan-memory` lists such stacks on the repeat, with the offset constraints that
// keep live slots disjoint for all slot sizes (base/arena/OffsetConstraints.h):
//
//   titan.stack_overlaps = [{consumed = array<i64: 3, 4>, produced = array<i64: 9>,
//                            slots = array<i64: 6, 6>, above = array<i64: 6, 5, 1, 0>,
//                            below = array<i64: 6, 0>}]
//
// The repeat consumes the stacks in allocations 3 and 4 and produces the stack in allocation 9;
// `slots` are the slots of a consumed and of a produced stack. If the produced stack is above a
// consumed one, each pair (a, b) of `above` demands a distance of a rows of the lower stack minus b
// rows of the upper one; likewise `below`. `--titan-verify-memory` checks the constraints iteration
// by iteration.
#pragma once

#include "base/arena/OffsetConstraints.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::memory {

using ir::attr::kStackOverlaps;

mlir::Attribute packStackOverlap(mlir::MLIRContext *context, const arena::StackOverlap &overlap);
/// Fails if `packStackOverlap` cannot have produced `attribute`.
mlir::FailureOr<arena::StackOverlap> unpackStackOverlap(mlir::Attribute attribute);

/// The stack overlaps of all repeats of a function that `unpackStackOverlap` accepts.
std::vector<arena::StackOverlap> getStackOverlaps(mlir::func::FuncOp function);

/// The number of repeats that enclose `repeat`: its level in allocation references.
int64_t getLevel(ir::RepeatOp repeat);

/// True if the slots of a stack have equal sizes and are contiguous on every rank.
bool hasEqualSlots(ir::NamedTensorType stack);

/// True if `op` starts no collective, or if the wait for it is in the same block, and so in the
/// same iteration.
bool endsInBlock(mlir::Operation *op);

/// Rejects stack overlaps in which an iteration would overwrite a live slot.
mlir::LogicalResult verifyStackOverlaps(mlir::func::FuncOp function);

} // namespace titan::memory
