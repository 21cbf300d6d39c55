// The time of attention by each method.
//
// An axis that shards the positions of attention has a choice of methods. Their times follow from
// Hockney's model of messages (1994, "The communication challenge for MPP"): a latency each, and
// the bytes over the bandwidth. All times are those of the forward pass; the backward pass computes
// and sends about twice as much by every method. Plain data, without IR.
#pragma once

#include <cstdint>

namespace titan::dist {

/// The machine that a choice assumes: an H100 with one 400 Gbit/s adapter, and the rate of
/// attention in FlashAttention-2 (Dao 2023, arXiv 2307.08691, section 4.1).
inline constexpr double kMessageSeconds = 1e-5;
inline constexpr double kBytesPerSecond = 5e10;
inline constexpr double kAttentionFlopsPerSecond = 3.35e14;

/// Attention of one rank before the axis divides it: all positions, and of the other dimensions the
/// shards that the other axes leave to the rank.
struct AttentionSizes {
  double queryBytes = 0; ///< of the queries and the results
  double keyBytes = 0;   ///< of the keys and the values
  double flops = 0;
  int64_t heads = 0;      ///< elements of the dimension that all-to-alls would divide; 0: none
  double imbalance = 1.0; ///< the largest over the mean work of ranks that share the positions
};

/// The time and memory of attention if an axis of some degree divides it by one method.
struct AttentionTime {
  double seconds = 0;
  double heldBytes = 0; ///< of operands that a rank has beside its own shard
};

/// All keys and values arrive before the computation.
AttentionTime estimateGather(const AttentionSizes &sizes, int64_t degree);
/// Keys and values of the next step arrive during a step, so that a rank holds two shards.
AttentionTime estimateRing(const AttentionSizes &sizes, int64_t degree);
/// Queries, keys and values move before the computation, the results after it. The degree must
/// divide the heads. Every rank has all positions, so that the work is even.
AttentionTime estimateAllToAll(const AttentionSizes &sizes, int64_t degree);

} // namespace titan::dist
