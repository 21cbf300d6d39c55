// Sharding rules of titan operations.
//
// External models of ShardingRuleOpInterface for all operations of `titan` that compute. Most rules
// follow from the types, because a dimension name is a factor. `repeat` and `yield` have no rule:
// the passes of the shard phase relate their values by position.
#pragma once

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace titan::ir {

/// Attaches all models when the dialect is loaded.
void registerShardingRules(mlir::DialectRegistry &registry);

/// The models of one source file each.
void attachElementwiseShardingRules(mlir::MLIRContext &context);
void attachTensorShardingRules(mlir::MLIRContext &context);
void attachNeuralShardingRules(mlir::MLIRContext &context);
/// The models of PositionalOpInterface and CausalOpInterface.
void attachPositionModels(mlir::MLIRContext &context);

} // namespace titan::ir
