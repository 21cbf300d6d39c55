// Stages of a pipeline.
//
// Cuts the program of one rank into fragments that an action table executes. See docs/design.md,
// "Shard", docs/rationale/pipeline.md, and Passes.td.
#pragma once

#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace titan::dist {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/dist/Transforms/Stages/Passes.h.inc"

} // namespace titan::dist
