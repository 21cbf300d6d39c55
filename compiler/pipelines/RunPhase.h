// The pass --titan-run-phase: a phase with the settings of the module's run. See Passes.td.
#pragma once

#include "compiler/pipelines/Plugins.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace titan::pipelines {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/pipelines/Passes.h.inc"

/// The pass for a phase with insertions, each followed by the verifiers of its position.
std::unique_ptr<mlir::Pass> createRunPhase(llvm::StringRef phase,
                                           llvm::ArrayRef<Insertion> insertions);

} // namespace titan::pipelines
