// Stacks that share memory within a loop.
//
// In each iteration, a loop reads a slot of one stack for the last time (consumes it) and writes a
// slot of another (produces it). The two stacks may overlap: a produced slot may reuse the bytes of
// consumed slots. Let d = offset(produced) - offset(consumed). Disjoint stacks need a d outside the
// range from minus the size of the produced stack to the size of the consumed stack. A stack
// overlap needs only one of these inequalities, the same one for all iterations k:
//
//   produced above:  d >= (s + 1) * consumed.row - t * produced.row
//   produced below: -d >= (t + 1) * produced.row - s * consumed.row
//
// for all slots s that iteration k or a later one reads, and all slots t that iteration k or an
// earlier one writes. A row is the size of one slot. The slots of an iteration are live during the
// whole iteration.
//
// Row sizes may be unknown at compile time. A pair (s, t) is therefore stored as an
// OffsetConstraint with the distance below * row(lower) - above * row(upper). Constraints that
// others dominate for all row sizes are dropped. Plain data.
#pragma once

#include "base/arena/StackOverlap.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace titan::arena {

/// The minimum offset difference between the upper and the lower stack for these row sizes.
inline int64_t getMinDistance(const std::vector<OffsetConstraint> &constraints, int64_t rowBelow,
                              int64_t rowAbove) {
  int64_t distance = 0;
  for (OffsetConstraint constraint : constraints)
    distance = std::max(distance, constraint.below * rowBelow - constraint.above * rowAbove);
  return distance;
}

/// Removes dominated constraints; the rest is the lower convex chain.
inline std::vector<OffsetConstraint> pruneConstraints(std::vector<OffsetConstraint> constraints) {
  // By descending `below`, then ascending `above`.
  std::sort(constraints.begin(), constraints.end(), [](OffsetConstraint a, OffsetConstraint b) {
    return a.below != b.below ? a.below > b.below : a.above < b.above;
  });
  std::vector<OffsetConstraint> chain;
  for (OffsetConstraint constraint : constraints) {
    if (!chain.empty() && constraint.above >= chain.back().above)
      continue; // dominated
    // True if the last point is not below the line between its neighbours.
    auto isRedundant = [&] {
      OffsetConstraint a = chain[chain.size() - 2], b = chain.back();
      return (a.above - b.above) * (a.below - constraint.below) <=
             (a.above - constraint.above) * (a.below - b.below);
    };
    while (chain.size() > 1 && isRedundant())
      chain.pop_back();
    chain.push_back(constraint);
  }
  return chain;
}

/// True if `constraints` imply `constraint` for all row sizes.
inline bool implies(const std::vector<OffsetConstraint> &constraints, OffsetConstraint constraint) {
  for (OffsetConstraint a : constraints)
    for (OffsetConstraint b : constraints) {
      if (a.below < constraint.below || b.above > constraint.above)
        continue;
      // Some point between `a` and `b` dominates `constraint`.
      if (a.above <= constraint.above || b.below >= constraint.below ||
          (a.above - constraint.above) * (a.below - b.below) <=
              (a.below - constraint.below) * (a.above - b.above))
        return true;
    }
  return false;
}

/// The slot that each iteration consumes or produces, in execution order.
using Slots = std::vector<std::optional<int64_t>>;

/// Calls `visit(first, last, least, most)` for each iteration in which both stacks have live slots:
/// the iteration or a later one reads slots `first` to `last` of the consumed stack; the iteration
/// or an earlier one wrote slots `least` to `most` of the produced stack.
template <typename Visitor>
void walkStackOverlap(const Slots &read, const Slots &written, Visitor visit) {
  using Extent = std::optional<std::pair<int64_t, int64_t>>; // smallest and greatest slot
  auto widen = [](Extent &extent, const std::optional<int64_t> &slot) {
    if (slot)
      extent = {std::min(extent.value_or(std::pair(*slot, *slot)).first, *slot),
                std::max(extent.value_or(std::pair(*slot, *slot)).second, *slot)};
  };
  std::vector<Extent> later(read.size() + 1); // slots that iteration k or a later one reads
  for (size_t k = read.size(); k-- > 0;) {
    later[k] = later[k + 1];
    widen(later[k], read[k]);
  }
  Extent earlier;
  for (size_t k = 0; k < read.size(); ++k) {
    widen(earlier, written[k]);
    if (later[k] && earlier)
      visit(later[k]->first, later[k]->second, earlier->first, earlier->second);
  }
}

/// Computes the constraints of `overlap` from the slots that the loop reads for the last time and
/// those that it writes.
inline void findConstraints(const Slots &read, const Slots &written, StackOverlap &overlap) {
  walkStackOverlap(read, written, [&](int64_t first, int64_t last, int64_t least, int64_t most) {
    overlap.producedAbove.push_back({last + 1, least});
    overlap.producedBelow.push_back({most + 1, first});
  });
  overlap.producedAbove = pruneConstraints(std::move(overlap.producedAbove));
  overlap.producedBelow = pruneConstraints(std::move(overlap.producedBelow));
}

} // namespace titan::arena
