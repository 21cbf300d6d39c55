// The pipelines of a planned module.
#pragma once

#include "base/pipeline/Table.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::memory {

/// The programs of a module that are cut into fragments, after the memory phase. The numbers of
/// allocations are those of `titan.persistent`, that of the axis counts the axes of the mesh.
std::vector<pipeline::Pipeline> getPipelines(mlir::ModuleOp module);

/// The persistent allocations that a fragment uses, by their numbers in its code: those of its
/// arguments, then those of its results. Equal fragments of several stages have equal code.
std::vector<int> getUsedAllocations(mlir::func::FuncOp fragment);

} // namespace titan::memory
