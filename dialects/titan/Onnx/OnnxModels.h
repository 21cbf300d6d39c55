// The translation of operations to ONNX (docs/rationale/onnx.md).
//
// Models of OnnxOpInterface for the dialect's operations. An operation of a plugin implements the
// interface itself.
#pragma once

#include "dialects/titan/Onnx/Translation.h"

#include "mlir/IR/DialectRegistry.h"

#include "dialects/titan/Onnx/OnnxInterface.h.inc"

namespace titan::onnx {

/// Attaches the models.
void registerOnnxModels(mlir::DialectRegistry &registry);

void attachAttentionModels(mlir::MLIRContext &context);
void attachElementwiseModels(mlir::MLIRContext &context);
void attachOrderModels(mlir::MLIRContext &context);
void attachRepeatModels(mlir::MLIRContext &context);
void attachRotaryModels(mlir::MLIRContext &context);
void attachTensorModels(mlir::MLIRContext &context);
void attachViewModels(mlir::MLIRContext &context);

/// A model whose class has `static Tensor build(Op, Translation &)`: the tensor of the only result.
template <typename Model, typename Op>
struct OneResult : OnnxOpInterface::ExternalModel<Model, Op> {
  mlir::LogicalResult translateToOnnx(mlir::Operation *op, Translation &translation) const {
    translation.set(op->getResult(0), Model::build(mlir::cast<Op>(op), translation));
    return mlir::success();
  }
};

} // namespace titan::onnx
