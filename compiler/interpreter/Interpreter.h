// Runs a program on virtual ranks.
//
// Runs each rank until it waits, and executes collectives whose groups are complete. Stops with an
// error if calls do not match or no rank can proceed.
#pragma once

#include "compiler/interpreter/Script.h"

namespace titan::interpreter {

/// Shards by rank, then by index among a function's arguments or results.
using RankTensors = std::vector<std::vector<TensorRef>>;

/// Runs functions[rank % size] on each rank; returns the results of all ranks. Errors are
/// diagnostics.
mlir::FailureOr<RankTensors> interpret(llvm::ArrayRef<mlir::func::FuncOp> functions,
                                       const RankMesh &mesh, const RankTensors &arguments);

/// Runs the functions of `script` on each rank. Errors are diagnostics; a deadlock is reported at
/// `location`.
mlir::LogicalResult runScript(Script &script, const RankMesh &mesh, mlir::Location location);

/// A device at the start of `function`.
mlir::FailureOr<std::unique_ptr<Device>> makeDevice(mlir::func::FuncOp function, int64_t rank,
                                                    const RankMesh &mesh,
                                                    const std::vector<TensorRef> &arguments);

/// Rejects a value with a dimension that the mesh does not divide (only storage is padded) and a
/// value that is too large to interpret.
mlir::LogicalResult checkTypes(mlir::func::FuncOp function, const RankMesh &mesh);

} // namespace titan::interpreter
