// Stored tensors that are shorter than the program's weight map says: they contain only the first
// indices of a parameter along some dimensions. Plain data, no files.
#pragma once

#include "base/weights/WeightMap.h"

#include <functional>
#include <optional>
#include <span>

namespace titan {

/// The layout of a parameter's elements in a stored tensor with the shape `shape` instead of
/// `stored.shape`. The factors have fewer indices, and the strides of `shape`. Nothing unless
/// - the shape has the rank of `stored.shape`, and no dimension is longer,
/// - the parameter is the complete stored tensor,
/// - a shorter dimension has whole indices of its outermost factor: 4 of 6 `heads` of
///   `(heads, head)`.
std::optional<StoredParameter> shorten(const StoredParameter &stored,
                                       std::span<const int64_t> shape);

/// `count` consecutive elements that a parameter and its stored tensor have: from number `element`
/// of the parameter, and from number `stored` of the elements that both have.
struct CommonRun {
  int64_t element, stored, count;
};

/// Visits the elements in [first, first + count) of a parameter whose factors have these sizes, as
/// far as their index is below `common` in each factor. `CommonRun::stored` counts such elements
/// row-major.
void forEachCommonRun(std::span<const int64_t> sizes, std::span<const int64_t> common,
                      int64_t first, int64_t count,
                      const std::function<void(const CommonRun &)> &visit);

} // namespace titan
