// Sizes of the scratch of the CPU attention kernels (runtime/lib/attention): regions of one block
// per thread. The kernels divide their block, and the compiler plans it, so that a step allocates
// nothing. Both include this header, so it includes only the standard library.
#pragma once

#include <array>
#include <cstdint>

namespace titan::attention_scratch {

constexpr int64_t kLineBytes = 64;   // regions are aligned to cache lines
constexpr int64_t kVectorBytes = 64; // one AVX-512 register, or two AVX2 registers
constexpr int64_t kKeyBlock = 64;    // keys per block of the forward pass
constexpr int64_t kQueryBlock = 64;  // queries per block of the backward pass
constexpr int64_t kPanelRows = 8;    // rows of a panel

/// Rounds up to whole panels.
constexpr int64_t roundUpToPanel(int64_t rows) {
  return (rows + kPanelRows - 1) / kPanelRows * kPanelRows;
}

/// The parameters of the region sizes.
struct Sizes {
  int64_t queries, keys;   ///< positions
  int64_t group;           ///< query heads per key head
  int64_t head, valueHead; ///< elements of a head of queries and keys, and of values
  int64_t elementBytes;    ///< of the arithmetic type (float for bf16)

  constexpr int64_t vector() const { return kVectorBytes / elementBytes; }
  /// Queries (forward) or keys (backward) that share the vector lanes.
  constexpr int64_t lanes() const { return 2 * vector(); }
  /// `head`, rounded up to whole vectors.
  constexpr int64_t width() const { return (head + vector() - 1) / vector() * vector(); }
};

/// Elements of the forward regions: keys, values, queries, sums, scores, and three rows of lanes.
constexpr std::array<int64_t, 8> forwardBuffers(const Sizes &s) {
  return {roundUpToPanel(s.keys) * s.head,
          roundUpToPanel(s.keys) * s.valueHead,
          s.head * s.lanes(),
          s.valueHead * s.lanes(),
          kKeyBlock * s.lanes(),
          s.lanes(),
          s.lanes(),
          s.lanes()};
}

/// Elements of the backward regions: queries, their cotangents and gradients; a block of keys; the
/// transposed keys, values and gradients of both; log-sum-exp of each query, and the inner product
/// of its result and cotangent; probabilities and score gradients.
constexpr std::array<int64_t, 12> backwardBuffers(const Sizes &s) {
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

constexpr int64_t bufferBytes(int64_t elements, int64_t elementBytes) {
  return (elements * elementBytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

/// Bytes of one thread's block.
constexpr int64_t forwardBytes(const Sizes &sizes) {
  int64_t bytes = 0;
  for (int64_t buffer : forwardBuffers(sizes))
    bytes += bufferBytes(buffer, sizes.elementBytes);
  return bytes;
}
constexpr int64_t backwardBytes(const Sizes &sizes) {
  int64_t bytes = 0;
  for (int64_t buffer : backwardBuffers(sizes))
    bytes += bufferBytes(buffer, sizes.elementBytes);
  return bytes;
}

} // namespace titan::attention_scratch
