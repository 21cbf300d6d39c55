// The transitive operands of a set of results. Lowering emits only these into each program. A
// parameter outside of the reach of the loss causes a warning.
#pragma once

#include "compiler/sema/program/Program.h"

#include <unordered_set>

namespace titan::sema {

/// The body of a repeat counts as a whole, because its iteration arguments depend on all of it.
struct Reachability {
  std::unordered_set<ValueId> values;
  std::unordered_set<uint32_t> parameters, inputs; ///< indices
  bool isRandom = false;                           ///< contains random numbers
  bool hasDropout = false;                         ///< which draws numbers in training alone
  bool usesStep = false;                           ///< contains the number of the step
  bool updates;                                    ///< includes the updates of buffers

  /// With `updates`, includes the operands of buffer updates.
  Reachability(const Model &model, const std::vector<ValueId> &roots, bool updates = false);

  bool needs(const Op &op) const;

private:
  void walk(const Region &region);
};

} // namespace titan::sema
