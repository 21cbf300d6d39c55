// What is known at compile time of integer tensors that `index(d)` brings forth, and of places in
// the data's documents, which may be as large: each element is a constant plus a multiple of its
// place along some dimensions. Whatever keeps that form is followed exactly, anything else is given
// up, so a range read off it is attained, never guessed.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_POSITIONS_H
#define TITAN_COMPILER_SEMA_ELABORATION_POSITIONS_H

#include "compiler/sema/program/Program.h"

#include <map>

namespace titan::sema {

/// base + sum over d of steps[d] * (the place along d).
struct Positions {
  int64_t base = 0;
  std::map<DimId, int64_t> steps;

  struct Range {
    int64_t least, most; ///< both are elements
  };
  Range range(const DimTable &dims) const;
};

/// The positions of an op's result, if those of its operands decide it: null where they are not
/// known. Numbers beyond 2**31 are given up.
std::optional<Positions> followPositions(const Op &op, const DimTable &dims,
                                         const std::vector<const Positions *> &operands);

} // namespace titan::sema

#endif
