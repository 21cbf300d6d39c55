//===- Differentiation.h - Gradients of the dialect's operations -*- C++ -*-===//
//
// Attaches DifferentiableOpInterface to the operations of the `titan` dialect. The rules are here
// and not in the operations' classes so that everything about gradients can be read in one folder.
// `titan.repeat` has no rule of its own: differentiating it is differentiating its body, which the
// pass --titan-differentiate does (dialects/titan/Transforms/Gradient/RepeatGradient.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_DIFFERENTIATION_DIFFERENTIATION_H
#define TITAN_DIALECTS_TITAN_DIFFERENTIATION_DIFFERENTIATION_H

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace titan::ir {

/// Attaches the rules when the dialect is loaded.
void registerVjpModels(mlir::DialectRegistry &registry);

/// The rules by kind of operation, one file each.
void attachElementwiseVjps(mlir::MLIRContext *context);
void attachTensorVjps(mlir::MLIRContext *context);
void attachNeuralVjps(mlir::MLIRContext *context);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_DIFFERENTIATION_DIFFERENTIATION_H
