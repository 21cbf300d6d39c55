// The learning rate of a step.
//
// `optimizer.lr` of the run (`titan.run`) times a schedule of the module, a scalar function with
// `titan.schedule`. A module without a run has 1e-3.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace titan::interpreter {

/// The learning rate of `step` (from 1) in the run's schedule, or in the one called `schedule`.
/// Fails with an error if the module lacks the schedule, or the run a setting that it reads.
mlir::FailureOr<double> getLearningRate(mlir::ModuleOp module, int64_t step,
                                        llvm::StringRef schedule = {});

} // namespace titan::interpreter
