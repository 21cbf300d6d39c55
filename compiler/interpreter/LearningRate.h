//===- LearningRate.h - The learning rate of a step -------------*- C++ -*-===//
//
// `optimizer.lr` of the run (`titan.run`) times the module's schedule, a scalar function with
// `titan.schedule`. A module without a run has 1e-3.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_LEARNINGRATE_H
#define TITAN_COMPILER_INTERPRETER_LEARNINGRATE_H

#include "mlir/IR/BuiltinOps.h"

namespace titan::interpreter {

/// The learning rate of `step` (from 1). Fails with an error if the run lacks a setting that the
/// schedule reads.
mlir::FailureOr<double> getLearningRate(mlir::ModuleOp module, int64_t step);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_LEARNINGRATE_H
