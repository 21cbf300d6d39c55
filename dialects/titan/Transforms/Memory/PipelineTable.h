//===- PipelineTable.h - The pipelines of a planned module ------*- C++ -*-===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_PIPELINETABLE_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_PIPELINETABLE_H

#include "base/pipeline/Table.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::memory {

/// The programs of a module that are cut into fragments, after the memory phase. The numbers of
/// allocations are those of `titan.persistent`, that of the axis counts the axes of the mesh.
std::vector<pipeline::Pipeline> getPipelines(mlir::ModuleOp module);

} // namespace titan::memory

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_PIPELINETABLE_H
