// The phases between the model's IR and emission, in order. This list is the compiler's table of
// contents: titanc runs it, --stop-after and --dump-phases name its entries, titan-opt prints it.
#ifndef TITAN_COMPILER_PIPELINES_PHASES_H
#define TITAN_COMPILER_PIPELINES_PHASES_H

#include "compiler/pipelines/Plugins.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <string>

namespace titan::pipelines {

struct Phase {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  /// Adds the phase's passes, its verifier last.
  void (*build)(mlir::OpPassManager &manager);
};

/// All phases, `model` first.
llvm::ArrayRef<Phase> getPhases();

/// The phase called `name`, or null.
const Phase *findPhase(llvm::StringRef name);

struct PhaseRun {
  std::string stopAfter;     ///< the last phase to run; empty: all
  std::string dumpDirectory; ///< where to write the IR after every phase, numbered; empty: nowhere
  std::vector<Insertion> insertions = {};
  /// Sees the module after every phase, and leaves it as it is.
  std::function<void(llvm::StringRef phase, mlir::ModuleOp module)> observe = {};
};

/// Runs the phases after `model` on a module that lowering made. Passes report their own errors.
mlir::LogicalResult runPhases(mlir::ModuleOp module, const PhaseRun &run);

/// Registers each phase as the pipeline --titan-phase-NAME, with what is inserted after it.
/// `insertions` is read when a pipeline is built.
void registerPhasePipelines(std::vector<Insertion> &insertions);

/// What a list of phases looks like to a user: one a line, then its passes.
void printPhases(llvm::raw_ostream &out);

} // namespace titan::pipelines

#endif
