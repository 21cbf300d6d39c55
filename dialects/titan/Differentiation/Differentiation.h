// VJP rules of the dialect's operations.
//
// Attaches DifferentiableOpInterface to the operations of the `titan` dialect as external models.
// `titan.repeat` has no rule: the pass --titan-differentiate differentiates its bodies
// (dialects/titan/Transforms/Gradient/RepeatGradient.cpp).
#pragma once

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace titan::ir {

/// Attaches the rules when the dialect is loaded.
void registerVjpModels(mlir::DialectRegistry &registry);

/// The rules of one kind of operations each.
void attachElementwiseVjps(mlir::MLIRContext *context);
void attachTensorVjps(mlir::MLIRContext *context);
void attachNeuralVjps(mlir::MLIRContext *context);

} // namespace titan::ir
