// Proves that a schedule can run. The schedule may be written by hand, generated, or the result of
// passes.
//
// - Each stage runs on one rank and computes each microbatch once: F, and either B or I and W.
// - On one rank, an action follows the actions that compute its inputs.
// - If the table has sends and receives: each value that another rank reads is sent once and
//   received once, after its computation and before its use; no other value is.
// - If the table has UNSHARD and RESHARD: they alternate, and a stage computes while it is
//   unsharded.
// - If the table has REDUCE_GRAD: once a stage, after its last W or B.
// - No deadlock, even if sends and receives block.
// - The memory of each rank stays within a limit.
#pragma once

#include "base/schedule/Memory.h"

namespace titan::schedule {

struct MemoryLimit {
  std::vector<StageBytes> stages; ///< the bytes of each stage
  int64_t bytes = 0;              ///< of every rank
};

/// The first faults of a schedule, by rank and cell; empty if it can run. Deadlock and memory are
/// examined only in a schedule without other faults.
std::vector<ScheduleFault> verify(const Schedule &schedule,
                                  const std::optional<MemoryLimit> &limit = std::nullopt);

} // namespace titan::schedule
