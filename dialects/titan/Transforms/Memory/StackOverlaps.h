//===- StackOverlaps.h - Stacks that may lie over one another -------*- C++ -*-===//
//
// A repeat that reads one stack slot by slot, for the last time, and fills another needs less than
// both. `--titan-plan-memory` says at the repeat which of its stacks that holds for and how far
// these must be apart (base/arena/OffsetConstraints.h), whatever their rows' sizes:
//
//   titan.stack_overlaps = [{consumed = array<i64: 3, 4>, produced = array<i64: 9>,
//                       slots = array<i64: 6, 6>, above = array<i64: 6, 5, 1, 0>,
//                       below = array<i64: 6, 0>}]
//
// Buffers 3 and 4 are consumed, 9 is produced, and all have 6 slots. Of `above` and `below`, every
// two numbers are a constraint. `--titan-verify-memory` runs through the iterations and compares.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_STACKOVERLAPS_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_STACKOVERLAPS_H

#include "base/arena/OffsetConstraints.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::memory {

inline constexpr llvm::StringLiteral kStackOverlaps = "titan.stack_overlaps";

mlir::Attribute packStackOverlap(mlir::MLIRContext *context, const arena::StackOverlap &overlap);
/// Fails where `attribute` is not what `packStackOverlap` makes.
mlir::FailureOr<arena::StackOverlap> unpackStackOverlap(mlir::Attribute attribute);

/// Those of all repeats of a function that the verifier accepts.
std::vector<arena::StackOverlap> getStackOverlaps(mlir::func::FuncOp function);

/// The number of repeats around this one: its level in places.
int64_t getLevel(ir::RepeatOp repeat);

/// True for a stack whose slots are equally large and lie one behind the other on every rank.
bool hasEqualRows(ir::NamedTensorType stack);

/// True where what `op` starts is waited for in the same iteration, or where it starts nothing.
bool endsInBlock(mlir::Operation *op);

/// Refuses stackOverlaps that the iterations do not keep.
mlir::LogicalResult verifyStackOverlaps(mlir::func::FuncOp function);

} // namespace titan::memory

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_STACKOVERLAPS_H
