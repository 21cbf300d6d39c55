//===- Kernels.h - Scalar functions of elementwise operations ---*- C++ -*-===//
//
// Models of ScalarOpInterface for every elementwise operation: the function's value (what the
// interpreter computes) and its text (what the emitter prints) stand side by side, so that the two
// cannot drift apart. The text is an expression of C++ that CUDA accepts too; its functions are
// those of titan/runtime/kernel_math.h, namespace `tm`.
//
// Operands are those of the operation, in order. Those of `iota` and `random` come after
// the global index of the element, which whoever walks the elements supplies.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_KERNELS_KERNELS_H
#define TITAN_DIALECTS_TITAN_KERNELS_KERNELS_H

namespace mlir {
class DialectRegistry;
}

namespace titan::ir {

/// Attaches the models to the dialect's operations when the dialect is loaded.
void registerScalarModels(mlir::DialectRegistry &registry);

/// Likewise, those of ScratchOpInterface: what kernels on processors work in.
void registerScratchModels(mlir::DialectRegistry &registry);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_KERNELS_KERNELS_H
