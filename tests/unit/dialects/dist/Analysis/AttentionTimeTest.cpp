// Estimated times of attention by gather, ring and all-to-all.

#include "dialects/dist/Analysis/AttentionTime.h"

#include <gtest/gtest.h>

using namespace titan::dist;

namespace {

/// Llama 3 8B: 32 heads of queries, 8 of keys, each of 128 elements in bf16; causal.
AttentionSizes makeSizes(double positions, double imbalance = 1) {
  return {2 * 2 * 32 * 128 * positions, 2 * 2 * 8 * 128 * positions,
          2 * 32 * 128 * positions * positions, 8, imbalance};
}

// Times and bytes agree with the model of messages and arithmetic, for four ranks.
TEST(AttentionTime, ByDefinition) {
  const AttentionSizes sizes{8e9, 4e9, 4 * kAttentionFlopsPerSecond, 8, 1.5};
  // Three quarters of the keys, then a quarter of the work, unevenly.
  EXPECT_DOUBLE_EQ(estimateGather(sizes, 4).seconds, kMessageSeconds + 3e9 / kBytesPerSecond + 1.5);
  EXPECT_DOUBLE_EQ(estimateGather(sizes, 4).heldBytes, 4e9);
  // Four steps, of which three hide a message.
  EXPECT_DOUBLE_EQ(estimateRing(sizes, 4).seconds, 4 * 1.5 / 4);
  EXPECT_DOUBLE_EQ(estimateRing(sizes, 4).heldBytes, 2e9);
  // Three quarters of the rank's shard of queries, results, keys and values; even work.
  EXPECT_DOUBLE_EQ(estimateAllToAll(sizes, 4).seconds,
                   4 * kMessageSeconds + 0.75 * 3e9 / kBytesPerSecond + 1);
  EXPECT_DOUBLE_EQ(estimateAllToAll(sizes, 4).heldBytes, 3e9);
}

// If a step computes for less time than a message takes, the messages determine the time of a ring.
TEST(AttentionTime, MessagesOfShortSteps) {
  const AttentionSizes sizes{0, 4e9, 0, 8, 1};
  EXPECT_DOUBLE_EQ(estimateRing(sizes, 4).seconds, 3 * (kMessageSeconds + 1e9 / kBytesPerSecond));
}

// For short sequences, gather is faster, because it has fewest messages. For long ones in head-tail
// order, a ring is fastest, because its messages overlap with computation.
TEST(AttentionTime, LengthDecides) {
  EXPECT_LT(estimateGather(makeSizes(2048), 8).seconds, estimateRing(makeSizes(2048), 8).seconds);
  EXPECT_LT(estimateRing(makeSizes(1 << 20), 8).seconds,
            estimateGather(makeSizes(1 << 20), 8).seconds);
  EXPECT_LT(estimateRing(makeSizes(1 << 20), 8).seconds,
            estimateAllToAll(makeSizes(1 << 20), 8).seconds);
}

// In block order the last rank of a causal mask has nearly twice the work of the mean.
TEST(AttentionTime, OrderDecides) {
  EXPECT_LT(estimateAllToAll(makeSizes(1 << 17, 2 - 1.0 / 8), 8).seconds,
            estimateRing(makeSizes(1 << 17, 2 - 1.0 / 8), 8).seconds);
}

} // namespace
