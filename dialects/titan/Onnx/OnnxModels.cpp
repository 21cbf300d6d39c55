#include "dialects/titan/Onnx/OnnxModels.h"

using namespace mlir;
using namespace titan;

#include "dialects/titan/Onnx/OnnxInterface.cpp.inc"

void onnx::registerOnnxModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ir::TitanDialect *) {
    attachAttentionModels(*context);
    attachElementwiseModels(*context);
    attachOrderModels(*context);
    attachRepeatModels(*context);
    attachRotaryModels(*context);
    attachTensorModels(*context);
    attachViewModels(*context);
  });
}
