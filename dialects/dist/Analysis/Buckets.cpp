//===- Buckets.cpp - Which exchanges become one message -------------------===//

#include "dialects/dist/Analysis/Buckets.h"
#include <algorithm>

using namespace titan::dist;

std::vector<Bucket> titan::dist::chooseBuckets(const std::vector<Exchange> &exchanges,
                                               int64_t limit) {
  std::vector<Bucket> buckets;
  std::vector<int64_t> bytes;
  for (size_t i = 0; i < exchanges.size(); ++i) {
    const Exchange &exchange = exchanges[i];
    size_t b = 0;
    while (b < buckets.size() &&
           (bytes[b] >= limit || std::max(buckets[b].earliest, exchange.earliest) >
                                     std::min(buckets[b].latest, exchange.latest)))
      ++b;
    if (b == buckets.size()) {
      buckets.push_back({{}, exchange.earliest, exchange.latest});
      bytes.push_back(0);
    }
    Bucket &bucket = buckets[b];
    bucket.members.push_back(i);
    bucket.earliest = std::max(bucket.earliest, exchange.earliest);
    bucket.latest = std::min(bucket.latest, exchange.latest);
    bytes[b] += exchange.bytes;
  }
  return buckets;
}

int64_t titan::dist::halfAhead(const std::vector<Exchange> &exchanges, int64_t limit,
                               int64_t least) {
  int64_t sum = 0;
  for (const Exchange &exchange : exchanges)
    sum += exchange.bytes;
  return sum < least ? limit : std::min(limit, (sum + 1) / 2);
}
