//===- Layout.h - Local parts and the global value --------------*- C++ -*-===//
//
// One function says which global element every local element is; cutting a global value into parts,
// assembling it again, and the meaning of every collective follow from it. So a sharding means one
// thing everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_LAYOUT_H
#define TITAN_COMPILER_INTERPRETER_LAYOUT_H

#include "compiler/interpreter/RankMesh.h"

namespace titan::interpreter {

/// For every element that `rank` holds of a value, in memory order, its row-major index in the
/// global tensor, or -1 for padding.
std::vector<int64_t> getGlobalIndices(ir::NamedTensorType type, const RankMesh &mesh, int64_t rank);

/// A tensor of the local shape of `type`, all NaN: nothing is read that was not written.
ir::HostTensor makePoisoned(ir::NamedTensorType type, const RankMesh &mesh);

/// What `rank` holds of a global value: zeros where padded; of a partial sum the first rank along
/// the partial axes has the value and the others 0; partial maxima and minima are held by all.
ir::HostTensor getShard(ir::NamedTensorType type, const RankMesh &mesh, int64_t rank,
                        const ir::HostTensor &global);

/// The global value, partial values combined, from the parts of all ranks. Ranks that must hold the
/// same bits and do not are an error: "ranks 0 and 1 differ at element 3: 0.5 and 0.25".
mlir::FailureOr<ir::HostTensor> assemble(ir::NamedTensorType type, const RankMesh &mesh,
                                         llvm::ArrayRef<const ir::HostTensor *> parts,
                                         llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_LAYOUT_H
