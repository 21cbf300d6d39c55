//===- AxisAssignment.h - What a mesh axis does to one operation -*- C++ -*-===//
//
// An operation splits at most one factor by an axis. Given where the axis is in operands and
// results, this decides which: plain data in, plain data out, so that it is tested without IR.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_ANALYSIS_AXISASSIGNMENT_H
#define TITAN_DIALECTS_DIST_ANALYSIS_AXISASSIGNMENT_H

#include "dialects/dist/Analysis/ShardingRule.h"
#include <functional>
#include <optional>

namespace titan::dist {

/// Where an axis is in a tensor: the position of the dimension that it splits, or one of these.
enum AxisDim : int { kReplicated = -1, kFlat = -2, kPartial = -3 };

/// One axis as one operation sees it. Values that are partial maxima or minima over the axis count
/// as kReplicated: nothing passes them on.
struct AxisUse {
  std::vector<int> operands, results;
};

/// A mesh axis: its degree (0: auto, not known yet) and the names of dimensions that its map lists,
/// in order of preference.
struct AxisInfo {
  std::string name;
  int64_t degree = 0;
  std::vector<std::string> preference;
};

/// Position of a dimension's name, else of its origin, in the axis's preference; the list's length
/// where it has neither.
size_t getPreference(const AxisInfo &axis, const std::string &name, const std::string &origin);

/// Whether an axis can shard a dimension of `size` that is sharded `degree` ways already (0: not
/// known).
bool canSplit(int64_t size, int64_t degree, const AxisInfo &axis);

/// The factor that dimension `dim` of an operand (or result) walks, or -1.
int findOperandFactor(const ShardingRule &rule, size_t operand, int dim);
int findResultFactor(const ShardingRule &rule, size_t result, int dim);

struct Assignment {
  enum Kind {
    Replicate,      ///< operands and results are replicated over the axis
    Split,          ///< `factor` is split
    ForwardPartial, ///< the operands of linear set `set` are partial sums, and so are the results
    Flat            ///< flat storage is worked on as it lies
  } kind = Replicate;
  int factor = -1;
  int set = -1;
};

/// Sizes decide whether passing a partial sum on is worth it.
struct ValueSizes {
  std::vector<int64_t> operands,
      results;                  ///< elements; of results as many as the operands' bytes are
  std::vector<bool> mayForward; ///< per operand: a partial sum that nothing else uses
};

/// Partial sums pass on if the operands that are not partial can join them (rank 0: size 1) and if
/// that does not make the eventual reduction larger.
std::optional<int> findForwardingSet(const ShardingRule &rule, const AxisUse &use,
                                     const ValueSizes &sizes);

/// The factor to split, by the axis's preference: among the reduction factors that the axis splits
/// in every operand that has them (first among equals) and the factors by which it splits results.
/// `degrees` has, per factor, the product of the degrees of the axes that split it already.
Assignment assignAxis(const ShardingRule &rule, const AxisUse &use, const ValueSizes &sizes,
                      const AxisInfo &axis, const std::vector<int64_t> &degrees);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_ANALYSIS_AXISASSIGNMENT_H
