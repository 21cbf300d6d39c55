// VJP rules of the dialect's operations.

#include "dialects/titan/Differentiation/Differentiation.h"
#include "dialects/titan/IR/Titan.h"

using namespace mlir;

void titan::ir::registerVjpModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TitanDialect *) {
    attachElementwiseVjps(context);
    attachTensorVjps(context);
    attachNeuralVjps(context);
  });
}
