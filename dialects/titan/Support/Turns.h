// Periods and turns in the IR.
#pragma once

#include "base/turns/Turns.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::ir {

/// The steps that update the parameter `index` of a train program.
Period getPeriod(mlir::func::FuncOp function, unsigned index);

/// The steps in which a program with this attribute runs.
Turn getTurn(TurnAttr attribute);
TurnAttr getTurnAttr(mlir::MLIRContext *context, const Turn &turn);

} // namespace titan::ir
