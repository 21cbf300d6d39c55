// What a set of results needs, transitively. Lowering makes each program of only that, and a
// parameter that the loss does not need is a mistake worth a warning.
#ifndef TITAN_COMPILER_SEMA_REACHABILITY_H
#define TITAN_COMPILER_SEMA_REACHABILITY_H

#include "compiler/sema/program/Program.h"

#include <unordered_set>

namespace titan::sema {

/// Bodies of repeats count whole: what they carry depends on all of it.
struct Reachability {
  std::unordered_set<ValueId> values;
  std::unordered_set<uint32_t> parameters, inputs; ///< indices
  bool isRandom = false;                           ///< something is drawn anew in each step
  bool updates;                                    ///< buffers get their next values

  /// With `updates`, what the next values of buffers need as well.
  Reachability(const Model &model, const std::vector<ValueId> &roots, bool updates = false);

  bool needs(const Op &op) const;

private:
  void walk(const Region &region);
};

} // namespace titan::sema

#endif
