// The time of a function of a step on one rank: kernels in order, and collectives beside them.
//
// The host of a GPU launches kernels ahead of their execution: a kernel starts after its launch and
// after the kernel before it. A CPU starts a kernel when the kernel before it has ended.
//
// Kernels and the collectives that the program waits for run one after the other. A started
// collective runs on the lane of its axes, after earlier ones of the lane; kernels beside it have
// fewer cores. A wait takes until the collective has ended.
#pragma once

#include "base/prediction/CollectiveTime.h"

#include <functional>

namespace titan {

/// An interval of a lane.
struct StepSpan {
  std::vector<int> axes; ///< of the lane of a collective; empty: the program's own lane
  const StepItem *item;
  double begin, end;
  double waited = 0; ///< what the program waited for a collective; 0 for a kernel
  double times = 1;  ///< more than 1: executions of an iteration that are not simulated
};

/// What a function spends its time on, in seconds.
struct FunctionTime {
  double seconds = 0;
  /// By begin. Of a long loop, the first iterations are simulated. The last one of these stands for
  /// the rest, which takes as long.
  std::vector<StepSpan> spans;
};

FunctionTime simulateFunction(const StepItems &items, const Device &device, const Mesh &mesh,
                              const Machine &machine);

} // namespace titan
