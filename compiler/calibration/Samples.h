// Measured times of kernels and collectives whose work is known.
#pragma once

#include "base/prediction/StepProgram.h"
#include "compiler/calibration/Profile.h"

namespace titan::calibration {

template <typename Work> struct Sample {
  Work work;
  double seconds; ///< of a kernel the median, of a collective the minimum of the profiled steps
};

struct Samples {
  std::vector<Sample<KernelWork>> kernels;
  std::vector<Sample<CollectiveWork>> collectives;
};

/// Joins the kernels and collectives of the function `name` of a step with the spans of a profile:
/// those with the same source line and name follow one another in the order of the program, step
/// by step. An operation that shares a span with others, because they follow one another with the
/// same line and name, or without a line, is left out. Throws UserError if the profile has other
/// numbers of them.
Samples joinSamples(const StepProgram &step, const std::string &name, const Profile &profile);

} // namespace titan::calibration
