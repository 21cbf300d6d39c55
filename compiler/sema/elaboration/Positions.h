// Compile-time knowledge of integer tensors that derive from `index(d)` and from positions in
// documents. Each element is an affine function of its indices. Operations that preserve this form
// are followed exactly; others end the knowledge. A resulting range is therefore attained, never an
// estimate.
#pragma once

#include "compiler/sema/program/Program.h"

#include <map>

namespace titan::sema {

/// base + sum over d of steps[d] * (index along d).
struct Positions {
  int64_t base = 0;
  std::map<DimId, int64_t> steps;

  struct Range {
    int64_t least, most; ///< both are attained
  };
  Range range(const DimTable &dims) const;
};

/// The positions of the result, if those of the operands determine it; an operand without known
/// positions is null. Values beyond 2**31 end the knowledge.
std::optional<Positions> followPositions(const Op &op, const DimTable &dims,
                                         const std::vector<const Positions *> &operands);

} // namespace titan::sema
