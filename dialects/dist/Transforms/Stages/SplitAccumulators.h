// One sum per stage.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {

/// If a sum over microbatches adds terms of several stages (the gradient of a parameter of two
/// stages), gives each stage a sum of its own and adds these after the loop, so that one tensor
/// moves per step and not per microbatch. Initial values of sums are zero.
void splitAccumulators(mlir::func::FuncOp program);

} // namespace titan::dist
