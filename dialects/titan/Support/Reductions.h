// Reference semantics of reductions.
//
// The interpreter uses them for `titan.reduce`, for unreduced values and for reducing collectives.
#pragma once

#include "dialects/dist/IR/Dist.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace titan::ir {

/// x combined with y; NaN propagates.
inline double combine(dist::ReductionKind kind, double x, double y) {
  if (kind == dist::ReductionKind::Sum)
    return x + y;
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<double>::quiet_NaN();
  return kind == dist::ReductionKind::Max ? std::max(x, y) : std::min(x, y);
}

/// The neutral element: the reduction of no elements.
inline double getNeutral(dist::ReductionKind kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return kind == dist::ReductionKind::Sum   ? 0.0
         : kind == dist::ReductionKind::Max ? -infinity
                                            : infinity;
}

} // namespace titan::ir
