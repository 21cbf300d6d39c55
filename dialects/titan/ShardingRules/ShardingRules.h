//===- ShardingRules.h - How Titan's operations may be split ----*- C++ -*-===//
//
// External models of ShardingRuleOpInterface for every operation of `titan` that computes. Since
// dimensions are named, most rules follow from the types alone: a factor is a name. `repeat` and
// `yield` have none; their values are tied by position, which the shard phase's passes do.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_SHARDINGRULES_SHARDINGRULES_H
#define TITAN_DIALECTS_TITAN_SHARDINGRULES_SHARDINGRULES_H

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace titan::ir {

/// Attaches the models to the operations when the dialect is loaded.
void registerShardingRules(mlir::DialectRegistry &registry);

/// The models of one group of operations (one source file each).
void attachElementwiseShardingRules(mlir::MLIRContext &context);
void attachTensorShardingRules(mlir::MLIRContext &context);
void attachNeuralShardingRules(mlir::MLIRContext &context);
/// The models of PositionalOpInterface.
void attachPositionModels(mlir::MLIRContext &context);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_SHARDINGRULES_SHARDINGRULES_H
