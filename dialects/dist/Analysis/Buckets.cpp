// Buckets of coalesced collectives.

#include "dialects/dist/Analysis/Buckets.h"
#include <algorithm>

using namespace titan::dist;

std::vector<Bucket> titan::dist::chooseBuckets(const std::vector<BucketCandidate> &candidates,
                                               int64_t limit) {
  std::vector<Bucket> buckets;
  std::vector<int64_t> bytes;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const BucketCandidate &candidate = candidates[i];
    size_t b = 0;
    while (b < buckets.size() &&
           (bytes[b] >= limit || std::max(buckets[b].earliest, candidate.earliest) >
                                     std::min(buckets[b].latest, candidate.latest)))
      ++b;
    if (b == buckets.size()) {
      buckets.push_back({{}, candidate.earliest, candidate.latest});
      bytes.push_back(0);
    }
    Bucket &bucket = buckets[b];
    bucket.members.push_back(i);
    bucket.earliest = std::max(bucket.earliest, candidate.earliest);
    bucket.latest = std::min(bucket.latest, candidate.latest);
    bytes[b] += candidate.bytes;
  }
  return buckets;
}

int64_t titan::dist::getOverlapLimit(const std::vector<BucketCandidate> &candidates, int64_t limit,
                                     int64_t least) {
  int64_t sum = 0;
  for (const BucketCandidate &candidate : candidates)
    sum += candidate.bytes;
  return sum < least ? limit : std::min(limit, (sum + 1) / 2);
}
