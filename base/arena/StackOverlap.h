// A stack overlap: a loop reads slots of the stacks `consumed` for the last time while it writes
// slots of the stacks `produced`, so that each pair of them may overlap. Every constraint gives a
// minimum distance between the lower and the upper stack of a pair (OffsetConstraints.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace titan::arena {

/// `below`: rows from the start of the lower stack to the end of its live slots. `above`: rows of
/// the upper stack before its live slots. The distance is at least below - above, in rows of each.
struct OffsetConstraint {
  int64_t below, above;
  bool operator==(const OffsetConstraint &other) const = default;
};

/// `List` is a vector, or the type of literals in an emitted program (program_table.h). Stacks are
/// indices of allocations.
template <template <typename> typename List> struct StackOverlapOf {
  List<size_t> consumed, produced; ///< each pair overlaps
  int64_t consumedSlots, producedSlots;
  List<OffsetConstraint> producedAbove, producedBelow;
};

template <typename T> using Vector = std::vector<T>;
using StackOverlap = StackOverlapOf<Vector>;

} // namespace titan::arena
