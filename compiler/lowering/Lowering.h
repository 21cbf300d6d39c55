// Lowering of a checked program to MLIR: the model phase of docs/design.md.
//
// Operations translate one to one, since the semantic analysis has made all decisions. The lowering
// adds the mesh and its axis rules, and one function per program with the operations that its
// results need. It marks arguments and results with their roles, and iteration arguments with
// sharding constraints.
#pragma once

#include "compiler/sema/check/Check.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace titan::lowering {

/// Loads the dialects into `context`. The module verifies. If it does not, that is a bug of the
/// compiler: it is reported through the context's diagnostics, and the result is null.
mlir::OwningOpRef<mlir::ModuleOp> lower(const sema::CheckedRun &run, const SourceManager &sources,
                                        mlir::MLIRContext &context);

} // namespace titan::lowering
