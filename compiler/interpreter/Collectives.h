//===- Collectives.h - What collectives do to local parts -------*- C++ -*-===//
//
// Defined by global elements, not by bytes: an operation that moves parts gives each rank the
// elements that its result type says it holds, taken from whichever rank of the group has them; one
// that reduces combines the group's values of the same element, in the group's order. An element
// that nobody in the group has is an error, so a collective over the wrong axes cannot pass.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_COLLECTIVES_H
#define TITAN_COMPILER_INTERPRETER_COLLECTIVES_H

#include "compiler/interpreter/RankMesh.h"

namespace titan::interpreter {

/// What tests put on an all-reduce or reduce-scatter, for all of its values or with the number of
/// one: every rank keeps its own part, as if the reduction had been forgotten. Comparisons of
/// programs are tested by it.
constexpr llvm::StringLiteral kDroppedReduction = "dist.dropped";

/// True for operations in which ranks exchange something.
bool isCollective(mlir::Operation *op);

/// The ranks that take part when `rank` executes `op` (a collective or another conversion of the
/// `dist` dialect): all ranks for a reshard, `rank` alone for local operations.
std::vector<int64_t> getParticipants(mlir::Operation *op, const RankMesh &mesh, int64_t rank);

/// Result `i` of the participants of `op`, in their order, from their operands `i`.
mlir::FailureOr<std::vector<ir::HostTensor>>
evaluateConversion(mlir::Operation *op, unsigned i, const RankMesh &mesh,
                   llvm::ArrayRef<int64_t> group, llvm::ArrayRef<const ir::HostTensor *> inputs);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_COLLECTIVES_H
