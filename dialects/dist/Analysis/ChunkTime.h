// What the division of a collective and its products into chunks saves.
//
// A product that reads a gathered value waits for the whole value; in chunks, the product of one
// chunk hides the message of the next one. Likewise a reduction behind a product. Wang et al.
// (2023, "Overlap communication with dependent computation via decomposition in large deep learning
// models", ASPLOS) have the method. Plain data, without IR.
#pragma once

#include <cstdint>

namespace titan::dist {

/// The rate of matrix products that a choice assumes, beside the rates of AttentionTime.h: bf16 on
/// an H100 at three fifths of its peak.
inline constexpr double kProductFlopsPerSecond = 6e14;
/// Bytes that a copy reads or writes in a second, on the same machine.
inline constexpr double kCopyBytesPerSecond = 2.5e12;

/// A collective and the products beside it, on one rank.
struct ChunkSizes {
  double bytesSent = 0;   ///< by the whole collective
  double flops = 0;       ///< of the products that are divided
  double copiedBytes = 0; ///< read and written to divide operands and to join results
};

/// The seconds that `count` chunks save; negative if they cost time. All but one of the messages
/// run beside products, each message has its latency, and the copies come on top.
double estimateSavedSeconds(const ChunkSizes &sizes, int64_t count);

} // namespace titan::dist
