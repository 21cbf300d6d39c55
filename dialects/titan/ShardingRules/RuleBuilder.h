//===- RuleBuilder.h - Sharding rules from types ----------------*- C++ -*-===//
//
// Two ways in which the factors of an operation follow from the types of its operands and results:
// by the names of dimensions, or by their positions where an operation changes names or sizes.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_SHARDINGRULES_RULEBUILDER_H
#define TITAN_DIALECTS_TITAN_SHARDINGRULES_RULEBUILDER_H

#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::ir {

/// A factor per dimension name. A factor that some result lacks while an operand has it is of kind
/// `reduction`; every other one is Parallel, and padding stays apart along it.
dist::ShardingRule buildRuleByName(mlir::Operation *op,
                                   dist::FactorKind reduction = dist::FactorKind::Sum);

/// For an operation with one operand and one result: a Parallel factor per pair of positions
/// (operand dimension, result dimension), along which padding stays apart where both are of one
/// size. Dimensions in no pair get Replicated factors of their own.
dist::ShardingRule buildRuleByPosition(mlir::Operation *op,
                                       llvm::ArrayRef<std::pair<int64_t, int64_t>> pairs);

/// Forbids splitting the factor called `name`.
void forbidSplitting(dist::ShardingRule &rule, llvm::StringRef name);

/// Says that results depend on the global index along the factor called `name`.
void markPositional(dist::ShardingRule &rule, llvm::StringRef name);

/// Says that the operation reduces nothing but padding's values along its reduction factors: it may
/// be padded along them with what leaves the reduction as it is.
void reducePadding(dist::ShardingRule &rule);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_SHARDINGRULES_RULEBUILDER_H
