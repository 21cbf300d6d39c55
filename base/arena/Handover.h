// A loop reads slots of the buffers `emptied` for the last time while it writes slots of those in
// `filled`; so each of these may lie over each of those, at a distance of at least that many rows
// of what lies below, less that many of what lies above, of every corner (Corners.h finds them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace titan::arena {

/// Rows of what lies below up to the end of what is alive, less rows of what lies above before it.
struct Corner {
  int64_t below, above;
  bool operator==(const Corner &other) const = default;
};

/// `List` is a vector, or what an emitted program writes as literals (program_table.h). Buffers are
/// given by their indices.
template <template <typename> typename List> struct HandoverOf {
  List<size_t> emptied, filled; ///< each of these with each of those
  int64_t emptiedSlots, filledSlots;
  List<Corner> filledAbove, filledBelow;
};

template <typename T> using Vector = std::vector<T>;
using Handover = HandoverOf<Vector>;

} // namespace titan::arena
