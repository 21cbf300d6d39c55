// From a checked file to IR at a phase: what print, info and build share.
#ifndef TITAN_COMPILER_DRIVER_COMPILE_H
#define TITAN_COMPILER_DRIVER_COMPILE_H

#include "compiler/driver/CompilerInstance.h"
#include "compiler/pipelines/Phases.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace titan::driver {

/// A context with Titan's dialects and the interfaces of their operations.
class CompilerContext {
public:
  CompilerContext();
  mlir::MLIRContext context;
};

/// While it lives, what MLIR reports is shown at the place in the .titan file that the operation
/// came from.
class DiagnosticScope {
public:
  DiagnosticScope(CompilerInstance &instance, mlir::MLIRContext &context);

private:
  mlir::ScopedDiagnosticHandler handler;
};

/// Lowers the run and takes it through the phases, for any `auto` degree or for the one given. What
/// passes report is shown like any other diagnostic, at the place in the .titan file that the
/// operation came from. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> compile(CompilerInstance &instance, const sema::CheckedRun &run,
                                          mlir::MLIRContext &context,
                                          const pipelines::PhaseRun &phases,
                                          std::optional<int64_t> autoDegree = std::nullopt);

} // namespace titan::driver

#endif
