// Small sizes for a run, so that it can be interpreted on a few virtual devices in seconds.
//
// Sizes are changed as a user would change them, by settings: degrees of the map, integer arguments
// of the model, sizes of the batch. The checker decides which sizes fit one another, and RunShape
// which are representative. Sizes that no setting determines keep their values.
#pragma once

#include "compiler/driver/CompilerInstance.h"

namespace titan::driver {

/// A setting with a smaller value than in the file.
struct Shrinkage {
  std::string setting, before, after;
};

struct ShrunkRun {
  CommonOptions options; ///< the user's options with the smaller settings
  std::vector<Shrinkage> shrinkages;
};

/// The degree of the `auto` axis of a mesh: the number of processes over the product of the other
/// degrees, at least 1; 2 if `processes` is 0. 1 without an `auto` axis.
int64_t chooseAutoDegree(const sema::Mesh &mesh, int64_t processes);

/// Shrinks the degrees until the mesh has at most `processes` ranks (0: 16), each at least to its
/// smallest prime factor, then all sizes. `run` is the checked run of `options`.
ShrunkRun shrink(const CommonOptions &options, const sema::CheckedRun &run, int64_t processes);

} // namespace titan::driver
