// The factor that an axis shards.
//
// An axis shards at most one factor of an operation. This file chooses the factor from the axis's
// position in operands and results. It is plain data and tested without IR.
#pragma once

#include "dialects/dist/Analysis/ShardingRule.h"
#include <functional>
#include <optional>

namespace titan::dist {

/// The dimension of a tensor that an axis shards, or one of these.
enum AxisDim : int { kReplicated = -1, kFlat = -2, kPartial = -3 };

/// The AxisDim of one axis in each operand and result. Partial maxima and minima count as
/// kReplicated, because no operation forwards them.
struct AxisUse {
  std::vector<int> operands, results;
};

/// The factors of attention that an axis shards where it would shard the positions of queries.
enum class AttentionSplit {
  Queries,        ///< these positions only; all keys are gathered
  QueriesAndKeys, ///< those of queries and keys; keys pass around the ranks
  Heads           ///< a dimension that queries and keys share, if the degree divides it
};

/// A mesh axis: its degree (0: auto, fixed at launch) and the dimension names of its axis rules, in
/// order of preference.
struct AxisInfo {
  std::string name;
  int64_t degree = 0;
  std::vector<std::string> preference;
  bool isHeadTail = false; ///< shards dimensions in head-tail order
  AttentionSplit attention = AttentionSplit::Queries;
};

/// Position in the axis's preference of a dimension's name or else of its origin. The length of the
/// list if it contains neither.
size_t getPreference(const AxisInfo &axis, const std::string &name, const std::string &origin);

/// Whether an axis can shard a dimension of `size` that other axes shard `degree` ways (0:
/// unknown). In head-tail order, twice the degree must divide the size.
bool canSplit(int64_t size, int64_t degree, const AxisInfo &axis);

/// The factor that `axis` shards together with `factor`: the positions of keys with those of
/// queries in a ring. -1: none.
int findJointFactor(const ShardingRule &rule, int factor, const AxisInfo &axis);

/// The factor of dimension `dim` of an operand (or result), or -1.
int findOperandFactor(const ShardingRule &rule, size_t operand, int dim);
int findResultFactor(const ShardingRule &rule, size_t result, int dim);

struct Assignment {
  enum Kind {
    Replicate,      ///< operands and results are replicated over the axis
    Split,          ///< the axis shards `factor`
    ForwardPartial, ///< the operands of linear set `set` are partial sums, and so are the results
    Flat            ///< the operation works on flat storage
  } kind = Replicate;
  int factor = -1;
  int set = -1;
};

/// Sizes in elements, for the decision whether to forward a partial sum.
struct ValueSizes {
  std::vector<int64_t> operands;
  std::vector<int64_t> results; ///< scaled by result width / operand width
  std::vector<bool> mayForward; ///< per operand: a partial sum without other uses
};

/// The linear set whose partial sums the operation forwards. Its other operands must be scalars,
/// which convert to partial sums for free. Forwarding must not enlarge the eventual reduction.
std::optional<int> findForwardingSet(const ShardingRule &rule, const AxisUse &use,
                                     const ValueSizes &sizes);

/// Chooses the factor of highest preference. Candidates are the reduction factors that the axis
/// shards in all of their operands, and the factors that it shards in a result. On equal preference
/// a reduction factor wins. Without candidates, a sum that the axis shards in one operand, if a
/// rank then sends less than by gathering the operands. `degrees` has, per factor, the degree of
/// the axes assigned before. An axis with AttentionSplit::Heads shards that factor of attention
/// instead of the queries.
Assignment assignAxis(const ShardingRule &rule, const AxisUse &use, const ValueSizes &sizes,
                      const AxisInfo &axis, const std::vector<int64_t> &degrees);

} // namespace titan::dist
