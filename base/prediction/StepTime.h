// The predicted time of a training step on a machine, and what it is spent on.
//
// The ranks along the axis of a pipeline run their calls in order, each call as soon as the
// messages that it waits for have arrived; all other ranks do the same at the same time. The times
// of calls do not depend on the microbatch.
#pragma once

#include "base/prediction/FunctionTime.h"

#include <map>
#include <string>
#include <vector>

namespace titan {

struct CallSpan {
  const StepCall *call;
  double begin, end;
};

struct StepTime {
  double seconds = 0;
  /// Of the coordinate along the pipeline that computes longest, in seconds: kernels by kind,
  /// communication during which it waits, by axes ("tp", "shard, tp"), and waits for other stages.
  double products = 0, attention = 0, loops = 0;
  std::map<std::string, double> exposed;
  double bubble = 0;
  std::map<std::pair<std::string, int64_t>, double> lines; ///< likewise, by source line

  std::map<std::string, FunctionTime> functions;
  std::vector<std::vector<CallSpan>> calls; ///< per coordinate along the pipeline

  double getTokensPerSecond(const StepProgram &step) const { return step.tokens / seconds; }
};

/// The memory of a rank in bytes: that of a GPU, or its part of that of a CPU.
double getMemoryOfRank(const StepProgram &step, const Machine &machine);

/// The step must outlive the result. Throws UserError if the machine lacks what the step needs.
StepTime predictStep(const StepProgram &step, const Machine &machine);

/// Model FLOPs and executed FLOPs per second, over the peak of all devices: the utilisations "MFU"
/// and "HFU" (Chowdhery et al., PaLM, 2022, appendix B).
struct Utilisation {
  double model = 0, hardware = 0;
};
Utilisation getUtilisation(const StepProgram &step, double seconds, const Machine &machine);

} // namespace titan
