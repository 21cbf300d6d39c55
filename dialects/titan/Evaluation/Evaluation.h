// The reference semantics of operations.
//
// Models of EvaluableOpInterface: the result of every operation on one rank's shards. The code
// favours obvious correctness over speed, because every pass and the emitted program are tested
// against it. Only contractions are blocked; otherwise only toy models would run.
//
// RankShards tells an operation which shard of a dimension the rank stores. Operands that share a
// dimension must have the same shard of it. Any other combination is an error, because it would
// silently compute wrong numbers.
#pragma once

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace titan::ir {

/// Attaches the models when the dialect is loaded. Elementwise operations use the models of
/// ScalarOpInterface, which must be attached too.
void registerEvaluationModels(mlir::DialectRegistry &registry);

/// The models by kind of operation, one file each.
void attachElementwiseEvaluation(mlir::MLIRContext &context);
void attachContractionEvaluation(mlir::MLIRContext &context);
void attachIndexingEvaluation(mlir::MLIRContext &context);
void attachGroupedEvaluation(mlir::MLIRContext &context);
void attachDimensionEvaluation(mlir::MLIRContext &context);
void attachRotaryEvaluation(mlir::MLIRContext &context);
void attachAttentionEvaluation(mlir::MLIRContext &context);
void attachOrderEvaluation(mlir::MLIRContext &context);

} // namespace titan::ir
