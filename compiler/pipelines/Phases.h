// The phases between lowering and emission, in order. titanc runs this list, --stop-after and
// --dump-phases refer to its names, and titan-opt prints it.
#pragma once

#include "compiler/pipelines/Plugins.h"
#include "dialects/titan/Support/RunSettings.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <string>

namespace titan::pipelines {

struct Phase {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  /// Adds the phase's passes with the options that the run sets, its verifier last.
  void (*build)(mlir::OpPassManager &manager, const RunSettings &settings);
};

/// All phases, `model` first.
llvm::ArrayRef<Phase> getPhases();

/// The phase called `name`, or null.
const Phase *findPhase(llvm::StringRef name);

/// Where a phase failed.
struct PhaseFailure {
  std::string phase;
  std::string pass; ///< the pass that failed; a verifier, if it found the fault
  /// The insertions that took part; empty: only the compiler's own passes.
  std::vector<std::string> inserted = {};
};

struct PhaseRun {
  std::string stopAfter;     ///< the last phase to run; empty: all
  std::string dumpDirectory; ///< directory for the IR after each phase; empty: none
  std::vector<Insertion> insertions = {};
  /// A pipeline of the module that runs instead of the phases; empty: none.
  std::string pipeline = {};
  /// Is called after each phase; must not change the module.
  std::function<void(llvm::StringRef phase, mlir::ModuleOp module)> observe = {};
  /// Is called if a pass fails, after its own diagnostics.
  std::function<void(const PhaseFailure &failure)> onFailure = {};
};

/// Runs the phases on a lowered module, with the settings of its run. Passes report their own
/// errors. Insertions at phases after `stopAfter` have no effect. A
/// pipeline that replaces the phases is verified like the last phase if `stopAfter` is empty.
///
/// A module that was printed after a phase (`titan.phase`) is verified as the result of this phase
/// and continues with the next one.
mlir::LogicalResult runPhases(mlir::ModuleOp module, const PhaseRun &run);

/// Whether the module is the result of this phase or of a later one (`titan.phase`).
bool hasRun(mlir::ModuleOp module, llvm::StringRef phase);

/// Registers each phase, with its insertions, as the pipeline --titan-phase-NAME. `insertions` is
/// read when a pipeline is built.
void registerPhasePipelines(std::vector<Insertion> &insertions);

/// Prints each phase on one line, followed by its passes with their default options.
void printPhases(llvm::raw_ostream &out);

} // namespace titan::pipelines
