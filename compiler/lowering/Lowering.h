// Checked program to MLIR: the model phase of docs/design.md.
//
// The translation is one to one: every decision was made by the semantic analysis. What it adds is
// the module's layout: the mesh and its map, one function per program with only what that program
// needs, arguments with their roles, sharding constraints where a repeat carries.
#ifndef TITAN_COMPILER_LOWERING_LOWERING_H
#define TITAN_COMPILER_LOWERING_LOWERING_H

#include "compiler/sema/check/Check.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace titan::lowering {

/// Loads the dialects it needs into `context`. The module verifies; if it does not, that is a fault
/// of ours, reported through the context's diagnostics, and the result is null.
mlir::OwningOpRef<mlir::ModuleOp> lower(const sema::CheckedRun &run, const SourceManager &sources,
                                        mlir::MLIRContext &context);

} // namespace titan::lowering

#endif
