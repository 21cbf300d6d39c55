// Lowers a checked run to the IR of a phase, for print, info and build.
#pragma once

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

/// The .titan location of an operation; invalid for operations without source text.
Location findSource(const SourceManager &sources, mlir::Location location);

/// During its lifetime, MLIR diagnostics are reported at the .titan location of their operation.
class DiagnosticScope {
public:
  DiagnosticScope(CompilerInstance &instance, mlir::MLIRContext &context);

  /// Explains by which pass the phases failed, or an inserted pass if one took part.
  void explain(const pipelines::PhaseFailure &failure, const Location &run);

private:
  CompilerInstance &instance;
  Diagnostic *firstError = nullptr; ///< valid until diagnostics are sorted
  mlir::ScopedDiagnosticHandler handler;
};

/// Whether the passes of `--insert-pass` run.
enum class Insertions { Run, Ignored };

/// Runs the phases, or those that `--insert-pass` and `--pass-pipeline` make of them, on a module.
/// `blamed` is the place of a failure without a place of its own. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> runPhases(CompilerInstance &instance,
                                            mlir::OwningOpRef<mlir::ModuleOp> module,
                                            const pipelines::PhaseRun &phases,
                                            Insertions insertions, const Location &blamed,
                                            DiagnosticScope &scope);

/// Lowers the run and runs the phases, for any `auto` degree or for a given one. Diagnostics of
/// passes are reported like others, at the .titan location of the operation. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> compile(CompilerInstance &instance, const sema::CheckedRun &run,
                                          mlir::MLIRContext &context,
                                          const pipelines::PhaseRun &phases,
                                          std::optional<int64_t> autoDegree = std::nullopt,
                                          Insertions insertions = Insertions::Run);

} // namespace titan::driver
