// Comparison of replicas: ranks with the same shard must hold the same bits. Each rank updates its
// copy from the same reduced values. If copies differ, a reduction is missing or a kernel's result
// depends on the rank, and training degrades slowly.
#pragma once

#include "state/Executor.h"

#include <optional>
#include <span>
#include <utility>

namespace titan::rt {

/// A rank's shard of a tensor: its index (getShardIndex), or kNone if the rank does not have the
/// tensor, and the checksum of its bytes.
struct HeldShard {
  static constexpr int64_t kNone = -1;
  int64_t shard;
  int64_t checksum;
};

/// The first two ranks that hold the same shard with different bytes; `held` is indexed by rank.
std::optional<std::pair<size_t, size_t>> findDifference(std::span<const HeldShard> held);

/// Compares parameters and optimizer state of all ranks. Collective, with the same result on all
/// ranks. Throws Fault naming the tensor and two ranks.
void checkReplicas(Executor &executor);

} // namespace titan::rt
