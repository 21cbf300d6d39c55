//===- Buckets.h - Which exchanges become one message -----------*- C++ -*-===//
//
// Many small collectives cost a latency each; several at once cost one. Plain data: each exchange
// of one kind says where in its block it may stand, and this chooses who goes together.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_ANALYSIS_BUCKETS_H
#define TITAN_DIALECTS_DIST_ANALYSIS_BUCKETS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace titan::dist {

/// A collective that may stand before any operation of its block from number `earliest` (what it
/// reads is made before that) to number `latest` (the first that reads what it gives).
struct BucketCandidate {
  int64_t earliest, latest;
  int64_t bytes; ///< of the larger side, where it is whole
};

struct Bucket {
  std::vector<size_t> members; ///< in the order of the exchanges
  int64_t earliest, latest;    ///< where it may stand
};

/// Puts candidates, given in program order, into buckets: each joins the first bucket with which it
/// shares a place and that has less than `limit` bytes. From there on bandwidth counts, not
/// latency, and larger buckets would only keep more values alive at once.
std::vector<Bucket> chooseBuckets(const std::vector<BucketCandidate> &candidates, int64_t limit);

/// A limit, up to this one, for exchanges of what a block makes bit by bit. All in one bucket would
/// wait for the last of them, with nothing left to compute beside it: half of them go ahead, unless
/// all together are less than `least` bytes, where a second message is not worth its latency.
int64_t getOverlapLimit(const std::vector<BucketCandidate> &candidates, int64_t limit,
                        int64_t least);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_ANALYSIS_BUCKETS_H
