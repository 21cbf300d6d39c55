// The values that move from rank to rank in a step. A value is a persistent allocation, of one
// microbatch for a stash. A rank receives the values that its fragments read and none of them
// writes.
//
// No deadlock: sends and receives only start, and the calls of a step have one order in time, that
// of a replay with estimated durations. A receive starts before the first call that is not earlier
// than the send, and one call sooner, so that the transfer overlaps with computation. The transfers
// from one rank to another have the same order at both. A rank waits for a received value before
// the first call that reads it, and for a sent one before a call writes its memory again. Of all
// waits, take the first in time: its transfer is earlier, so both ranks have started it and all
// before it, and it ends.
#pragma once

#include "base/pipeline/StepOrder.h"

namespace titan::pipeline {

struct Transfer {
  int allocation;     ///< index into Program::persistent
  int64_t microbatch; ///< -1: a value of the step
  int from, to;       ///< ranks
  size_t written;     ///< call of `from` after which the value is sent, the last one that writes it
  size_t posted;      ///< call of `to` before which the receive starts
  size_t read;        ///< first call of `to` that reads the value
};

/// All transfers of a step. Those from one rank to another start in this order at both. Throws
/// Fault for an order of calls in which a value is never written before its use.
std::vector<Transfer> findTransfers(const Pipeline &pipeline, const StepOrder &order);

/// Whether a persistent allocation is a stash of the pipeline.
bool isStash(const Pipeline &pipeline, int allocation);

} // namespace titan::pipeline
