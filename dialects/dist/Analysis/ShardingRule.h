// The factors of an operation.
//
// All that the partitioner knows of an operation, as plain data: an iteration space of *factors*.
// Each factor maps to dimensions of operands and results. Sharding a factor over a mesh axis shards
// all of these dimensions. After Shardy's OpShardingRule (openxla/shardy, docs/propagation.md).
// Jointly linear operand sets are an addition: they say how partial sums pass through.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace titan::dist {

enum class FactorKind {
  Parallel,  ///< shards are independent
  Sum,       ///< absent from some result; sharding it makes that result a partial sum
  Max,       ///< likewise, a partial maximum
  Min,       ///< likewise, a partial minimum
  Replicated ///< must not be sharded (positions of keys in attention)
};

/// The effect of an operation on the padding of a factor's dimensions. Padding contains arbitrary
/// values unless stated otherwise.
enum class Padding {
  Forbidden, ///< padding would affect other elements: the operation needs unpadded dimensions
  Isolated,  ///< padding of results depends on padding of operands only, and vice versa
  Reduced,   ///< the operation reduces padding: operands must hold the reduction's identity there
  Zeroed     ///< no operand has the factor, and results are 0 in its padding
};

struct Factor {
  std::string name;
  std::string origin; ///< the dimension that `name` renames, or empty
  int64_t size; ///< which degrees must divide; for split and merge, that of the outermost dimension
  FactorKind kind;
  std::vector<int> operandDims; ///< per operand, its dimension of this factor, or -1
  std::vector<int> resultDims;  ///< per result, likewise
  Padding padding = Padding::Forbidden;
  /// Whether results depend on the global index along the factor. A rank knows its shard offset; a
  /// loop over chunks must pass the start of the chunk (ir::PositionalOpInterface).
  bool isPositional = false;
};

/// The factors of attention: an axis may choose among several ways to shard positions.
struct AttentionFactors {
  int queries; ///< their positions
  int keys;    ///< the positions of keys and values
  int heads;   ///< the innermost other dimension that queries and keys share; -1: none
};

struct ShardingRule {
  std::vector<Factor> factors;
  /// Sets of operands in which the operation is jointly linear. If exactly the operands of one set
  /// are partial sums over an axis, so are the results. add: {{0, 1}}; mul and contract: {{0},
  /// {1}}; select: {{1, 2}}.
  std::vector<std::vector<unsigned>> linearSets = {};
  /// Further sets of operands: if all operands of one set are 0, so are the results.
  std::vector<std::vector<unsigned>> zeroSets = {};
  /// Elementwise over operands of equal dimensions (and scalars), so it also works on flat storage.
  bool isElementwise = false;
  /// Contracts operands of equal dimensions to a scalar. The padding of flat storage is 0, so flat
  /// operands give a partial sum over the flat axes.
  bool contractsFlat = false;
  std::optional<AttentionFactors> attention = std::nullopt;
};

} // namespace titan::dist
