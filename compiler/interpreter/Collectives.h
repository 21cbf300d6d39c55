// Semantics of collectives on shards.
//
// Collectives are defined on global elements, not on bytes. A collective that moves elements gives
// each rank the elements of its result type, from any rank of the group that holds them. A
// collective that reduces combines the group's values of each element in the order of the group. It
// is an error if no rank of the group holds an element; a collective over wrong axes therefore
// fails. Permutes and messages move shards unchanged.
#pragma once

#include "compiler/interpreter/RankMesh.h"
#include "compiler/interpreter/Rendezvous.h"

namespace titan::interpreter {

/// Whether ranks communicate in this operation.
bool isCollective(mlir::Operation *op);

/// The ranks that take part when `rank` executes `op`, an operation of the `dist` dialect: all
/// ranks for a reshard, the group for a collective, sender and receiver for a message, `rank` alone
/// for a local operation and for a message that has no partner.
std::vector<int64_t> getParticipants(mlir::Operation *op, const RankMesh &mesh, int64_t rank);

/// The call of `op` by `rank` at `position`, with the properties that the calls of a group must
/// share. Types may differ: stages may run different programs.
Call describeCall(mlir::Operation *op, const RankMesh &mesh, int64_t rank, std::string position);

/// Result `i` of each participant of `op`, computed from their operands `i`.
mlir::FailureOr<std::vector<ir::HostTensor>>
evaluateConversion(mlir::Operation *op, unsigned i, const RankMesh &mesh,
                   llvm::ArrayRef<int64_t> group, llvm::ArrayRef<const ir::HostTensor *> inputs);

} // namespace titan::interpreter
