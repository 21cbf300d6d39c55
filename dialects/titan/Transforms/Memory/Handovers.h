//===- Handovers.h - Stacks that may lie over one another -------*- C++ -*-===//
//
// A repeat that reads one stack slot by slot, for the last time, and fills another needs less than
// both. `--titan-plan-memory` says at the repeat which of its stacks that holds for and how far
// these must be apart (base/arena/Corners.h), whatever their rows' sizes:
//
//   titan.handovers = [{emptied = array<i64: 3, 4>, filled = array<i64: 9>,
//                       slots = array<i64: 6, 6>, above = array<i64: 6, 5, 1, 0>,
//                       below = array<i64: 6, 0>}]
//
// Buffers 3 and 4 are emptied, 9 is filled, and all have 6 slots. Of `above` and `below`, every two
// numbers are a corner. `--titan-verify-memory` runs through the iterations and compares.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_HANDOVERS_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_HANDOVERS_H

#include "base/arena/Corners.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::memory {

inline constexpr llvm::StringLiteral kHandovers = "titan.handovers";

mlir::Attribute packHandover(mlir::MLIRContext *context, const arena::Handover &handover);
/// Fails where `attribute` is not what `packHandover` makes.
mlir::FailureOr<arena::Handover> unpackHandover(mlir::Attribute attribute);

/// Those of all repeats of a function that the verifier accepts.
std::vector<arena::Handover> getHandovers(mlir::func::FuncOp function);

/// The number of repeats around this one: its level in places.
int64_t getLevel(ir::RepeatOp repeat);

/// True for a stack whose slots are equally large and lie one behind the other on every rank.
bool hasEqualRows(ir::NamedTensorType stack);

/// True where what `op` starts is waited for in the same iteration, or where it starts nothing.
bool endsInBlock(mlir::Operation *op);

/// Refuses handovers that the iterations do not keep.
mlir::LogicalResult verifyHandovers(mlir::func::FuncOp function);

} // namespace titan::memory

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_HANDOVERS_H
