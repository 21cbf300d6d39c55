// The properties that a run with small sizes must have in common with the original run, so that it
// exercises the same passes and rules.
#pragma once

#include "compiler/sema/check/Check.h"

namespace titan::driver {

/// Indices of two extents. The extent `small` is smaller than the extent `large`: a slice and its
/// origin, the choices of top-k and all candidates, an attention window and the sequence.
struct SmallerExtent {
  size_t small, large;
  bool operator==(const SmallerExtent &) const = default;
};

struct RunShape {
  std::string structure;           ///< of the model (sema::describeStructure)
  std::vector<std::string> axes;   ///< names of the axes and sub-axes with several ranks
  std::vector<std::string> padded; ///< dimensions
  bool isUneven = false;           ///< the stages of the pipeline have different numbers of layers
  std::vector<int64_t> extents;    ///< sizes of dimensions in a microbatch, attention windows
  std::vector<int64_t> least;      ///< for each extent: the smallest that is representative
  std::vector<SmallerExtent> smaller;
};

RunShape getRunShape(const sema::CheckedRun &run);

/// Whether a run of the shape `small` exercises everything that a run of the shape `whole` does.
bool represents(const RunShape &small, const RunShape &whole);

} // namespace titan::driver
