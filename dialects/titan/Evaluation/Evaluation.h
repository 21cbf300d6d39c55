//===- Evaluation.h - The reference meaning of operations -------*- C++ -*-===//
//
// Models of EvaluableOpInterface: what every operation computes on one rank's local parts. They are
// written to be obviously right rather than fast, since every pass and the emitted program are
// tested against them; only contractions are blocked, or nothing but toys could be run.
//
// An operation learns which part of a dimension a rank holds from ShardOffsets. Where two operands
// share a dimension, both must hold the same part of it: anything else is an error here, because
// such a program would compute silently wrong numbers.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_EVALUATION_EVALUATION_H
#define TITAN_DIALECTS_TITAN_EVALUATION_EVALUATION_H

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace titan::ir {

/// Attaches the models to the dialect's operations when the dialect is loaded. Elementwise ones
/// use the models of ScalarOpInterface, which must be attached too.
void registerEvaluationModels(mlir::DialectRegistry &registry);

/// The models by kind of operation, one file each.
void attachElementwiseEvaluation(mlir::MLIRContext &context);
void attachContractionEvaluation(mlir::MLIRContext &context);
void attachIndexingEvaluation(mlir::MLIRContext &context);
void attachDimensionEvaluation(mlir::MLIRContext &context);
void attachRotaryEvaluation(mlir::MLIRContext &context);
void attachAttentionEvaluation(mlir::MLIRContext &context);
void attachOrderEvaluation(mlir::MLIRContext &context);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_EVALUATION_EVALUATION_H
