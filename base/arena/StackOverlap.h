// A loop reads slots of the buffers `consumed` for the last time while it writes slots of those in
// `produced`; so each of these may lie over each of those, at a distance of at least that many rows
// of what lies below, less that many of what lies above, of every constraint (OffsetConstraints.h
// finds them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace titan::arena {

/// Rows of what lies below up to the end of what is alive, less rows of what lies above before it.
struct OffsetConstraint {
  int64_t below, above;
  bool operator==(const OffsetConstraint &other) const = default;
};

/// `List` is a vector, or what an emitted program writes as literals (program_table.h). Buffers are
/// given by their indices.
template <template <typename> typename List> struct StackOverlapOf {
  List<size_t> consumed, produced; ///< each of these with each of those
  int64_t consumedSlots, producedSlots;
  List<OffsetConstraint> producedAbove, producedBelow;
};

template <typename T> using Vector = std::vector<T>;
using StackOverlap = StackOverlapOf<Vector>;

} // namespace titan::arena
