// Splits sums over microbatches into one sum per stage of a pipeline.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {

/// If a sum over microbatches adds terms of several stages (the gradient of a parameter of two
/// stages), gives each stage a separate sum and adds these sums after the loop. So ranks send one
/// tensor per step and not per microbatch. Initial values of sums are zero.
void splitAccumulators(mlir::func::FuncOp program);

} // namespace titan::dist
