// Buckets of coalesced collectives.
//
// Small collectives are bound by latency, so several of one kind are coalesced. This file chooses
// the members of each bucket from the positions at which each collective may run. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace titan::dist {

/// A collective that may run before any operation of its block from number `earliest` (after its
/// last operand) to number `latest` (its first user).
struct BucketCandidate {
  int64_t earliest, latest;
  int64_t bytes; ///< of its operand or its result, whichever is larger
};

struct Bucket {
  std::vector<size_t> members; ///< in the order of the candidates
  int64_t earliest, latest;    ///< where the coalesced collective may run
};

/// Assigns candidates, given in program order, to buckets. A candidate joins the first bucket of
/// less than `limit` bytes with a common position. Larger buckets would be bound by bandwidth, and
/// would only extend live ranges.
std::vector<Bucket> chooseBuckets(const std::vector<BucketCandidate> &candidates, int64_t limit);

/// A bucket limit of at most `limit` for reductions. One bucket would start after its last operand,
/// with no computation left to overlap. Half of the bytes therefore start earlier, unless the sum
/// is below `least` bytes, where the second message costs more latency than it hides.
int64_t getOverlapLimit(const std::vector<BucketCandidate> &candidates, int64_t limit,
                        int64_t least);

} // namespace titan::dist
