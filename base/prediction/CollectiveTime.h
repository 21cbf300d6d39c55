// The time of collectives and messages on the links of a machine, by Hockney's model (1994, "The
// communication challenge for MPP"): a latency per message, and bytes over the bandwidth.
//
// A ring passes each link once per step (Thakur, Rabenseifner and Gropp, IJHPCA 19, 2005). Ranks of
// one node that belong to the same group have one ring each through their own network adapter, as
// NCCL's channels, so that together they send what one ring sends.
#pragma once

#include "base/layout/Mesh.h"
#include "base/machine/Machine.h"
#include "base/prediction/StepProgram.h"

namespace titan {

/// Seconds of a collective, and what it takes from kernels beside it.
struct CollectiveTime {
  double seconds = 0;
  double stolen = 0; ///< fraction of the cores of the device
};

/// Throws UserError if the machine has no links.
CollectiveTime getCollectiveTime(const CollectiveWork &work, const Mesh &mesh,
                                 const Machine &machine);

/// Seconds of a message of `bytes` between two ranks.
double getMessageSeconds(double bytes, int from, int to, const Machine &machine);

} // namespace titan
