// The pipelines of a module with a memory plan.
#pragma once

#include "base/pipeline/Table.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::memory {

/// One pipeline per program that is cut into fragments, with the allocations that each fragment
/// reads and writes. Allocations have their numbers in `titan.persistent`, the pipeline axis has
/// its number among the axes of the mesh.
std::vector<pipeline::Pipeline> getPipelines(mlir::ModuleOp module);

/// The persistent allocations that a fragment uses, by their numbers in its code: those of its
/// arguments, then those of its results. Equal fragments of several stages have equal code.
std::vector<int> getUsedAllocations(mlir::func::FuncOp fragment);

} // namespace titan::memory
