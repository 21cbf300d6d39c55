// The estimated time that chunks of a collective and its products save.

#include "dialects/dist/Analysis/ChunkTime.h"
#include "dialects/dist/Analysis/AttentionTime.h"

#include <gtest/gtest.h>

using namespace titan::dist;

namespace {

// Three of four messages run beside products; they cost three latencies and the copies.
TEST(ChunkTime, ByDefinition) {
  const ChunkSizes sizes{4 * kBytesPerSecond, 8 * kProductFlopsPerSecond, kCopyBytesPerSecond};
  EXPECT_DOUBLE_EQ(estimateSavedSeconds(sizes, 4), 3 - 3 * kMessageSeconds - 1);
}

// Products shorter than their messages hide no more than their own time.
TEST(ChunkTime, ShortProducts) {
  const ChunkSizes sizes{4 * kBytesPerSecond, 2 * kProductFlopsPerSecond, 0};
  EXPECT_DOUBLE_EQ(estimateSavedSeconds(sizes, 2), 1 - kMessageSeconds);
}

/// Llama 3 8B in bf16 on eight ranks: the gathered input of a product with the first matrices of
/// the feed-forward network, with the copies of shards and results.
ChunkSizes makeGather(double rows) {
  const double embed = 4096, ffn = 2 * 14336.0 / 8;
  return {2 * rows * embed * 7 / 8, 2 * rows * embed * ffn, 2 * 2 * rows * (embed / 8 + ffn)};
}

// Chunks of a few rows cost more than they save (Kraken's measurements: below about 512 rows).
TEST(ChunkTime, RowsDecide) {
  EXPECT_LT(estimateSavedSeconds(makeGather(256), 4), 0);
  EXPECT_GT(estimateSavedSeconds(makeGather(8192), 4), 0);
}

} // namespace
