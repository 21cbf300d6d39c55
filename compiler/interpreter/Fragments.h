// Runs a program that is cut into fragments.
//
// A program with stages is a declaration with a list of fragments (`--dist-form-fragments`). Each
// rank runs the fragments of its stages in the order of the schedule. A value that crosses ranks
// is delivered when its fragment has finished; a fragment starts when all its values are there.
#pragma once

#include "compiler/interpreter/Interpreter.h"

#include <map>

namespace titan::interpreter {

/// Whether `function` is the declaration of a program that is cut into fragments.
bool isFragmented(mlir::func::FuncOp function);

/// Checks the list of fragments and their types.
mlir::LogicalResult checkFragments(mlir::func::FuncOp declaration, const RankMesh &mesh);

/// Runs a step. Arguments and results are those of the declaration. A rank gets the results of
/// other stages from the ranks that run these stages.
mlir::FailureOr<RankTensors> interpretFragments(mlir::func::FuncOp declaration,
                                                const RankMesh &mesh, const RankTensors &arguments);

} // namespace titan::interpreter
