// A parameter whose stored tensor is shorter than the program's weight map says: its first indices
// along some dimensions. Plain data, no files.
#pragma once

#include "base/weights/WeightMap.h"

#include <functional>
#include <optional>
#include <span>

namespace titan {

/// The layout of the indices that a stored tensor of this shape has: `sizes` are smaller than those
/// of `stored`, strides follow the shape. Nothing unless
/// - the shape has the rank of `stored.shape`, and no dimension is longer,
/// - the parameter is the complete stored tensor,
/// - a shorter dimension has whole indices of its outermost factor: 4 of 6 `heads` of
///   `(heads, head)`.
std::optional<StoredParameter> shorten(const StoredParameter &stored,
                                       std::span<const int64_t> shape);

/// `count` elements in a row, counted in a parameter and in the elements that its tensor has.
struct CommonRun {
  int64_t element, stored, count;
};

/// Visits the elements in [first, first + count) of a parameter with these sizes whose index is
/// below `common` in each factor. `stored` counts these elements row-major.
void forEachCommonRun(std::span<const int64_t> sizes, std::span<const int64_t> common,
                      int64_t first, int64_t count,
                      const std::function<void(const CommonRun &)> &visit);

} // namespace titan
