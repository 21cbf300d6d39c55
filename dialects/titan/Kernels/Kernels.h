// Scalar functions of elementwise operations, and the scratch of kernels.
//
// Models of ScalarOpInterface for every elementwise operation. One struct contains the value of the
// function (for the interpreter) and its text (for the emitter), so that they cannot diverge. The
// text is an expression that is valid in C++ and CUDA; it calls functions of
// titan/runtime/kernel_math.h, namespace `tm`.
//
// Operands are those of the operation, in order. `iota` and `random` have the global index of the
// element as an additional first operand, which the caller supplies.
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace titan::ir {

/// Attaches the models to the dialect's operations when the dialect is loaded.
void registerScalarModels(mlir::DialectRegistry &registry);

/// Attaches the models of ScratchOpInterface: the scratch of CPU kernels.
void registerScratchModels(mlir::DialectRegistry &registry);

} // namespace titan::ir
