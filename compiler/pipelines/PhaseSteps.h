// A phase as pipelines that run one after the other: inserted passes, each followed by the
// verifiers of all invariants that hold at its position, and the phase itself.
#pragma once

#include "compiler/pipelines/Phases.h"

namespace titan::pipelines {

/// One pipeline of a phase.
struct PhaseStep {
  std::function<mlir::LogicalResult(mlir::OpPassManager &manager)> build;
  /// The insertions that take part; empty: only the compiler's own passes.
  std::vector<std::string> inserted = {};
};

/// The steps of a phase. `phase` and `settings` must outlive them.
std::vector<PhaseStep> makeSteps(const Phase &phase, const RunSettings &settings,
                                 llvm::ArrayRef<Insertion> insertions);

/// Adds the verifiers of all invariants that hold after a phase, those of earlier phases included.
void addVerifiers(const Phase &phase, mlir::OpPassManager &manager);

/// Records in the module (`titan.inserted`, `titan.plugins`) what was inserted, so that a program
/// with it differs from one without.
void recordInsertions(mlir::ModuleOp module, llvm::ArrayRef<std::string> inserted);

/// Records in the module (`titan.phase`) that a phase ended, so that a later compilation of the
/// printed module continues after it.
void recordPhase(mlir::ModuleOp module, const Phase &phase);

/// The passes of a phase as text, without `builtin.module(...)`.
std::string printPasses(const Phase &phase, const RunSettings &settings);

} // namespace titan::pipelines
