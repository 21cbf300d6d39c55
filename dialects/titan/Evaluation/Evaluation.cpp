// Attaches the reference semantics to the operations.

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/IR/Titan.h"

using namespace titan;

void ir::registerEvaluationModels(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, TitanDialect *) {
    attachElementwiseEvaluation(*context);
    attachContractionEvaluation(*context);
    attachIndexingEvaluation(*context);
    attachGroupedEvaluation(*context);
    attachDimensionEvaluation(*context);
    attachRotaryEvaluation(*context);
    attachAttentionEvaluation(*context);
    attachOrderEvaluation(*context);
  });
}
