// Derives the plain description of a training step (base/prediction/StepProgram.h) from the program
// after the memory phase.
#pragma once

#include "base/pipeline/Pipelines.h"
#include "base/prediction/StepProgram.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace titan::plan {

/// `degrees` has a number for every axis; `ranks` are those along the pipeline (planRanks). A
/// function that runs in some steps only (a turn) is called a fraction of times.
StepProgram describeStep(mlir::ModuleOp module, const dist::Degrees &degrees,
                         const std::vector<pipeline::Pipelines> &ranks);

} // namespace titan::plan
