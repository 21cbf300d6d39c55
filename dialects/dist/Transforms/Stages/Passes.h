//===- Passes.h - Stages of a pipeline --------------------------*- C++ -*-===//
//
// Cuts the program of one rank into fragments that an action table executes. See docs/design.md,
// "Shard", docs/rationale/pipeline.md, and Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_STAGES_PASSES_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_STAGES_PASSES_H

#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace titan::dist {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/dist/Transforms/Stages/Passes.h.inc"

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_STAGES_PASSES_H
