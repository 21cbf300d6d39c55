// A collective as all members of a group call it, so that transports can tell when they do not.
#pragma once

#include "Comm.h"

namespace titan::rt {

struct CallSignature {
  const char *operation;
  Site site;
  int64_t bytes; ///< of all values of one member
  DType type;
  int detail = 0; ///< the reduction, or the root of a broadcast
};

/// The same for members that run the same program, whose literals are elsewhere in each process.
/// Computed for every message: in a few nanoseconds, where a message takes hundreds.
uint64_t hashOf(const CallSignature &call);

} // namespace titan::rt
