// The pass --titan-run-phase: a phase with the settings of the module's run. See Passes.td.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace titan::pipelines {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/pipelines/Passes.h.inc"

} // namespace titan::pipelines
