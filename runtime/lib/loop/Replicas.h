// Whether ranks that hold the same part of a tensor hold the same bits of it. They compute their
// copies each for itself, from sums that collectives hand to all of them alike; where they differ,
// a reduction is missing or a kernel's result depends on the rank, and training goes wrong slowly.
#pragma once

#include "state/Executor.h"

#include <optional>
#include <span>
#include <utility>

namespace titan::rt {

/// What a rank holds of a tensor: which part (ShardLayout::shardIndex), and the checksum of its
/// bytes.
struct HeldShard {
  int64_t shard;
  int64_t checksum;
};

/// Two ranks that hold the same part with different bytes, the lowest such; `held` is by rank.
std::optional<std::pair<size_t, size_t>> findDifference(std::span<const HeldShard> held);

/// Compares parameters and optimizer state of all ranks. Every rank calls it, and all find the
/// same. Throws Fault naming the tensor and two ranks.
void checkReplicas(Executor &executor);

} // namespace titan::rt
