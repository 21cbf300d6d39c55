// Shards and global values.
//
// getGlobalIndices() defines the local-to-global index of every element. Slicing a global value
// into shards, assembling it, and the semantics of all collectives use this function, so that a
// sharding has one meaning.
#pragma once

#include "compiler/interpreter/RankMesh.h"

namespace titan::interpreter {

/// The global row-major index of every element of the rank's shard, in memory order; -1 for
/// padding.
std::vector<int64_t> getGlobalIndices(ir::NamedTensorType type, const RankMesh &mesh, int64_t rank);

/// A tensor of the local shape of `type` with NaN in all elements, which reveals uninitialised
/// reads.
ir::HostTensor makePoisoned(ir::NamedTensorType type, const RankMesh &mesh);

/// The rank's shard of a global value; padding is zero. Of a partial sum, the first rank along the
/// partial axes has the value and the others 0; partial maxima and minima are equal on all ranks.
ir::HostTensor getShard(ir::NamedTensorType type, const RankMesh &mesh, int64_t rank,
                        const ir::HostTensor &global);

/// The global value from the shards of all ranks, partial values reduced. Replicas must have equal
/// bits; otherwise an error such as "replicas on ranks 0 and 1 differ at local element 3: 0.5 and
/// 0.25".
mlir::FailureOr<ir::HostTensor> assemble(ir::NamedTensorType type, const RankMesh &mesh,
                                         llvm::ArrayRef<const ir::HostTensor *> shards,
                                         llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace titan::interpreter
