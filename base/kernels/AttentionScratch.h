// Working memory of the CPU attention kernels (attention.h), as pieces of one block a thread. The
// kernels cut their block into these pieces, and the compiler plans a block of their sum, so that a
// step allocates nothing. Header-only and without other headers of the runtime: both include it.
#pragma once

#include <array>
#include <cstdint>

namespace titan::attention_scratch {

constexpr int64_t kLineBytes = 64;   // pieces are aligned to cache lines
constexpr int64_t kVectorBytes = 64; // one register of AVX-512, or two of AVX2
constexpr int64_t kKeyBlock = 64;    // keys that the forward takes at once
constexpr int64_t kQueryBlock = 64;  // queries that the backward takes at once
constexpr int64_t kPanelRows = 8;    // lines of a panel

/// So many lines in whole panels.
constexpr int64_t roundUpToPanel(int64_t rows) {
  return (rows + kPanelRows - 1) / kPanelRows * kPanelRows;
}

/// What the sizes of the pieces follow from; elements are those computed with (float for bf16).
struct Sizes {
  int64_t queries, keys, group, head, valueHead, elementBytes;

  constexpr int64_t vector() const { return kVectorBytes / elementBytes; }
  /// Queries (forward) or keys (backward) that lie in vector lanes together.
  constexpr int64_t lanes() const { return 2 * vector(); }
  /// `head`, rounded up to whole vectors.
  constexpr int64_t width() const { return (head + vector() - 1) / vector() * vector(); }
};

/// Elements of the forward's pieces: keys, values, queries, sums, scores, and three rows of lanes.
constexpr std::array<int64_t, 8> forwardPieces(const Sizes &s) {
  return {roundUpToPanel(s.keys) * s.head,
          roundUpToPanel(s.keys) * s.valueHead,
          s.head * s.lanes(),
          s.valueHead * s.lanes(),
          kKeyBlock * s.lanes(),
          s.lanes(),
          s.lanes(),
          s.lanes()};
}

/// Elements of the backward's: queries and their cotangents and gradients; a block of keys as it
/// is, then across with its values and the gradients of both; log-sum-exp and mean of each query;
/// probabilities and gradients of scores.
constexpr std::array<int64_t, 12> backwardPieces(const Sizes &s) {
  const int64_t packed = s.group * roundUpToPanel(s.queries), rows = s.group * s.queries;
  return {packed * s.head,
          packed * s.valueHead,
          rows * s.width(),
          s.lanes() * s.width(),
          s.head * s.lanes(),
          s.valueHead * s.lanes(),
          s.head * s.lanes(),
          s.valueHead * s.lanes(),
          rows,
          rows,
          kQueryBlock * s.lanes(),
          kQueryBlock * s.lanes()};
}

constexpr int64_t pieceBytes(int64_t elements, int64_t elementBytes) {
  return (elements * elementBytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

/// Bytes of one thread's block.
constexpr int64_t forwardBytes(const Sizes &sizes) {
  int64_t bytes = 0;
  for (int64_t piece : forwardPieces(sizes))
    bytes += pieceBytes(piece, sizes.elementBytes);
  return bytes;
}
constexpr int64_t backwardBytes(const Sizes &sizes) {
  int64_t bytes = 0;
  for (int64_t piece : backwardPieces(sizes))
    bytes += pieceBytes(piece, sizes.elementBytes);
  return bytes;
}

} // namespace titan::attention_scratch
