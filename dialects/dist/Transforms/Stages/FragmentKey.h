// Identity and order of fragments.
#pragma once

#include "dialects/dist/IR/DistOps.h"
#include <string>

namespace titan::dist {

/// A fragment of a program: a kind of work of one stage. `level` distinguishes the update or
/// evaluate fragments of a stage: those of level L read values of level L - 1 of other stages.
struct FragmentKey {
  FragmentKind kind;
  int64_t stage = 0;
  int64_t level = 0;

  bool operator==(const FragmentKey &other) const {
    return kind == other.kind && stage == other.stage && level == other.level;
  }
  /// Whether the fragment runs once per microbatch.
  bool isPerMicrobatch() const { return runsPerMicrobatch(kind); }
  /// `forward.0`, `update.0.1`.
  std::string getName() const;
};

/// The order in which one process could execute the fragments of a step: begin, forward from the
/// first stage to the last, backward from the last to the first, weight gradients, update level by
/// level.
struct ExecutionOrder {
  bool operator()(const FragmentKey &a, const FragmentKey &b) const;
};

} // namespace titan::dist
