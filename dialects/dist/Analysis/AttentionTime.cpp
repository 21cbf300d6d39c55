// The time of attention by each method.

#include "dialects/dist/Analysis/AttentionTime.h"

#include <algorithm>

using namespace titan::dist;

static double getMeanWork(const AttentionSizes &sizes, double degree) {
  return sizes.flops / degree / kAttentionFlopsPerSecond;
}

AttentionTime titan::dist::estimateGather(const AttentionSizes &sizes, int64_t degree) {
  const auto n = static_cast<double>(degree);
  const double sent = (n - 1) / n * sizes.keyBytes;
  return {kMessageSeconds + sent / kBytesPerSecond + sizes.imbalance * getMeanWork(sizes, n),
          sizes.keyBytes};
}

AttentionTime titan::dist::estimateRing(const AttentionSizes &sizes, int64_t degree) {
  const auto n = static_cast<double>(degree);
  const double step = sizes.imbalance * getMeanWork(sizes, n) / n;
  const double message = kMessageSeconds + sizes.keyBytes / n / kBytesPerSecond;
  return {step + (n - 1) * std::max(step, message), 2 * sizes.keyBytes / n};
}

AttentionTime titan::dist::estimateAllToAll(const AttentionSizes &sizes, int64_t degree) {
  const auto n = static_cast<double>(degree);
  constexpr double messages = 4; // queries, keys, values, results
  const double shard = (sizes.queryBytes + sizes.keyBytes) / n;
  return {messages * kMessageSeconds + (n - 1) / n * shard / kBytesPerSecond +
              getMeanWork(sizes, n),
          shard};
}
