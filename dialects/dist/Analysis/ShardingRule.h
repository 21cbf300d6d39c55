//===- ShardingRule.h - How an operation may be split -----------*- C++ -*-===//
//
// The one thing that the partitioner knows of an operation, as plain data: an index space of
// *factors*, each walked by some dimensions of operands and results. Splitting a factor over a mesh
// axis splits all of these dimensions. After Shardy's OpShardingRule (openxla/shardy,
// docs/propagation.md), plus jointly linear operand sets, which say how partial values pass.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_ANALYSIS_SHARDINGRULE_H
#define TITAN_DIALECTS_DIST_ANALYSIS_SHARDINGRULE_H

#include <cstdint>
#include <string>
#include <vector>

namespace titan::dist {

enum class FactorKind {
  Parallel,  ///< parts are independent
  Sum,       ///< absent from some result: splitting it makes that result a partial sum
  Max,       ///< likewise, partial maxima
  Min,       ///< likewise, partial minima
  Replicated ///< must not be split (attention's positions)
};

/// What becomes of the elements by which dimensions that walk a factor are longer than the program
/// says, so that axes divide them. Their values are arbitrary unless said otherwise.
enum class Padding {
  Forbidden, ///< they would mix with the others: the operation needs its dimensions as they are
  Isolated,  ///< they come of nothing but padding and go nowhere else
  Reduced,   ///< they take part in the reduction: operands must hold its identity there
  Zeroed     ///< no operand walks the factor, and results are 0 there
};

struct Factor {
  std::string name;
  std::string origin; ///< the dimension that `name` renames, or empty
  int64_t size;       ///< what axes must divide; of a split or merged dimension, its outermost part
  FactorKind kind;
  std::vector<int> operandDims; ///< per operand, the dimension that walks the factor, or -1
  std::vector<int> resultDims;  ///< per result, likewise
  Padding padding = Padding::Forbidden;
  /// What results hold depends on global indices along the factor, which a rank knows of its shard.
  /// A chunk that a loop computes has to be told where it starts (ir::PositionalOpInterface).
  bool isPositional = false;
};

struct ShardingRule {
  std::vector<Factor> factors;
  /// Sets of operands in which the operation is jointly linear: if exactly the operands of one set
  /// are partial sums over an axis, and the others are not, the results are partial sums over it.
  /// add: {{0, 1}}; mul and contract: {{0}, {1}}; select: {{1, 2}}.
  std::vector<std::vector<unsigned>> linearSets = {};
  /// Further sets of operands: where those of one set are 0, so are the results.
  std::vector<std::vector<unsigned>> zeroSets = {};
  /// Elementwise over operands of equal dimensions (and scalars): also works on flat storage.
  bool isElementwise = false;
  /// Contracts operands of equal dimensions to a scalar: flat operands give partial sums over the
  /// flat axes, since padding is 0.
  bool contractsFlat = false;
};

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_ANALYSIS_SHARDINGRULE_H
