//===- Interpreter.h - Runs a program on virtual ranks ----------*- C++ -*-===//
//
// Lets each rank run until it waits, carries out collectives whose groups are complete, and stops
// with an error when calls do not match or nobody can go on.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_INTERPRETER_H
#define TITAN_COMPILER_INTERPRETER_INTERPRETER_H

#include "compiler/interpreter/Device.h"

namespace titan::interpreter {

/// Local tensors by rank, then by position among a function's arguments or results.
using RankTensors = std::vector<std::vector<TensorRef>>;

/// Runs functions[rank % size] on each rank with its arguments; returns the ranks' results. Errors
/// are emitted as diagnostics.
mlir::FailureOr<RankTensors> interpret(llvm::ArrayRef<mlir::func::FuncOp> functions,
                                       const RankMesh &mesh, const RankTensors &arguments);

/// Refuses a value whose dimension the mesh does not divide (only storage is ever padded), or that
/// is too large to be interpreted.
mlir::LogicalResult checkTypes(mlir::func::FuncOp function, const RankMesh &mesh);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_INTERPRETER_H
