// The pass --titan-run-phase: a phase with the settings of the module's run. See Passes.td.
#ifndef TITAN_COMPILER_PIPELINES_RUNPHASE_H
#define TITAN_COMPILER_PIPELINES_RUNPHASE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace titan::pipelines {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/pipelines/Passes.h.inc"

} // namespace titan::pipelines

#endif
