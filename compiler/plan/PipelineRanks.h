// The ranks along the axis of a pipeline, and what each of them runs in a training step. Without a
// pipeline, all ranks run the same functions.
#pragma once

#include "base/pipeline/Pipelines.h"
#include "compiler/plan/LineReport.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace titan::plan {

/// The functions and the memory of each rank along the axis of the pipeline, for training runs; one
/// element without a pipeline. Requires a module with a memory plan; `degrees` has a number for
/// every axis.
std::vector<pipeline::Pipelines> planRanks(mlir::ModuleOp module, const dist::Degrees &degrees);

/// Whether a training run executes the function of this name: steps and evaluations.
bool isOfTraining(llvm::StringRef function);

/// The functions of a training step, of all stages: @train, its turns, or their fragments.
std::vector<Execution> findStep(mlir::ModuleOp module);
/// Those that a rank runs.
std::vector<Execution> findStep(mlir::ModuleOp module, const pipeline::Pipelines &rank);

} // namespace titan::plan
