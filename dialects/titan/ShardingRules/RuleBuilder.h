// Sharding rules from types.
//
// Builds the factors of an operation from the types of operands and results: by the names of
// dimensions, or by their positions for operations that change names or sizes.
#pragma once

#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::ir {

/// One factor per dimension name. Factors that some operand has and some result lacks have the kind
/// `reduction`. All others are Parallel with isolated padding.
dist::ShardingRule buildRuleByName(mlir::Operation *op,
                                   dist::FactorKind reduction = dist::FactorKind::Sum);

/// For operations with one operand and one result. Each pair of positions (operand dimension,
/// result dimension) is a Parallel factor; its padding is isolated if both sizes are equal. All
/// other dimensions are Replicated factors.
dist::ShardingRule buildRuleByPosition(mlir::Operation *op,
                                       llvm::ArrayRef<std::pair<int64_t, int64_t>> pairs);

/// Makes the factor called `name` Replicated, so that no axis shards it, and forbids its padding.
void forbidSharding(dist::ShardingRule &rule, llvm::StringRef name);

/// Marks results as dependent on the global index along the factor called `name`.
void markPositional(dist::ShardingRule &rule, llvm::StringRef name);

/// Allows padding along the reduction factors, if it contains the neutral element of the reduction.
void allowReductionPadding(dist::ShardingRule &rule);

} // namespace titan::ir
