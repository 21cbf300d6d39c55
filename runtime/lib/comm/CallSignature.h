// The parameters of a collective that all members must have in common, to detect mismatched calls.
#pragma once

#include "Comm.h"

namespace titan::rt {

struct CallSignature {
  const char *operation;
  Site site;
  int64_t bytes; ///< of all tensors of one member
  DType type;
  int detail = 0;         ///< the reduction, the root of a broadcast, or the offset of a shift
  bool hasOneSite = true; ///< false for a message: its ends are on two source lines
};

/// The signature of a permute of `bytes` bytes.
inline CallSignature makeSignature(Shift shift, int64_t bytes, DType type, Site site) {
  return {"permute", site, bytes, type, shift.offset, shift.isCyclic};
}

/// A hash that is equal on all ranks, although literals have different addresses there. It is
/// computed per message and takes a few nanoseconds, while a message takes hundreds.
uint64_t computeHash(const CallSignature &call);

} // namespace titan::rt
