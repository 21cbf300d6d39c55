//===- OffsetConstraints.h - Stacks that are produced while others empty -*- C++ -*-===//
//
// A loop reads a slot of one stack for the last time in each iteration and writes a slot of
// another. The two need not lie apart: what is written may lie where slots have been read. Of the
// offset difference d = offset(produced) - offset(consumed), disjointness forbids everything
// between minus the one's size and the other's; here less of it is forbidden:
//
//   produced above:  d >= (s + 1) * consumed.row - t * produced.row
//   produced below: -d >= (t + 1) * produced.row - s * consumed.row
//
// for all slots s that some iteration k or a later one reads and t that k or an earlier one writes:
// one of the lines, for all of them. Slots of one iteration are taken to live through all of it.
//
// Rows' sizes may be unknown, so what is kept of the pairs (s, t) are constraints (p, q) that stand
// for p * row - q * row: those that are the greatest for some sizes of rows. Plain data.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_BASE_ARENA_OFFSETCONSTRAINTS_H
#define TITAN_BASE_ARENA_OFFSETCONSTRAINTS_H

#include "base/arena/StackOverlap.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace titan::arena {

/// What `below` must keep from `above` with rows of these sizes: the least difference of offsets.
inline int64_t getMinDistance(const std::vector<OffsetConstraint> &constraints, int64_t rowBelow,
                              int64_t rowAbove) {
  int64_t distance = 0;
  for (OffsetConstraint constraint : constraints)
    distance = std::max(distance, constraint.below * rowBelow - constraint.above * rowAbove);
  return distance;
}

/// The constraints that count: of those that no other dominates, the lower convex chain.
inline std::vector<OffsetConstraint> pruneConstraints(std::vector<OffsetConstraint> constraints) {
  // By rows below, the most first, those with fewer rows above first.
  std::sort(constraints.begin(), constraints.end(), [](OffsetConstraint a, OffsetConstraint b) {
    return a.below != b.below ? a.below > b.below : a.above < b.above;
  });
  std::vector<OffsetConstraint> chain;
  for (OffsetConstraint constraint : constraints) {
    if (!chain.empty() && constraint.above >= chain.back().above)
      continue; // as much below, and no less above
    // The last one lies on or over the line from the one before it to this one.
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

/// True where keeping the distance of `constraints` keeps that of `constraint`, whatever the rows'
/// sizes.
inline bool implies(const std::vector<OffsetConstraint> &constraints, OffsetConstraint constraint) {
  for (OffsetConstraint a : constraints)
    for (OffsetConstraint b : constraints) {
      if (a.below < constraint.below || b.above > constraint.above)
        continue;
      // A point between `a` and `b` has as much below and no more above.
      if (a.above <= constraint.above || b.below >= constraint.below ||
          (a.above - constraint.above) * (a.below - b.below) <=
              (a.below - constraint.below) * (a.above - b.above))
        return true;
    }
  return false;
}

/// The slot that each iteration reads for the last time or writes, in the order in which they run.
using Slots = std::vector<std::optional<int64_t>>;

/// Calls `visit(first, last, least, most)` for each iteration in which something of both stacks is
/// alive: of the consumed one, slots `first` to `last` are read in it or later; of the produced
/// one, `least` to `most` were written in it or earlier.
template <typename Visitor>
void walkStackOverlap(const Slots &read, const Slots &written, Visitor visit) {
  using Extent = std::optional<std::pair<int64_t, int64_t>>; // the least and the greatest slot
  auto widen = [](Extent &extent, const std::optional<int64_t> &slot) {
    if (slot)
      extent = {std::min(extent.value_or(std::pair(*slot, *slot)).first, *slot),
                std::max(extent.value_or(std::pair(*slot, *slot)).second, *slot)};
  };
  std::vector<Extent> later(read.size() + 1); // what iteration k or a later one reads
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

/// Fills in the constraints of a overlap.
inline void findConstraints(const Slots &read, const Slots &written, StackOverlap &overlap) {
  walkStackOverlap(read, written, [&](int64_t first, int64_t last, int64_t least, int64_t most) {
    overlap.producedAbove.push_back({last + 1, least});
    overlap.producedBelow.push_back({most + 1, first});
  });
  overlap.producedAbove = pruneConstraints(std::move(overlap.producedAbove));
  overlap.producedBelow = pruneConstraints(std::move(overlap.producedBelow));
}

} // namespace titan::arena

#endif // TITAN_BASE_ARENA_OFFSETCONSTRAINTS_H
