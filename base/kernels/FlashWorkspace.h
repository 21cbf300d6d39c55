// Device memory that LibTorch allocates during one call of flash attention, at most. The compiler
// reports it and tests compare it with allocations, so this header includes no other one. Sources:
// PyTorch 2.11, aten/src/ATen/native/transformers/cuda/attention_backward.cu, and mha_fwd, mha_bwd
// in flash_attn/flash_api.cpp beside it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace titan::flash_workspace {

/// More than any CUDA device has in 2026. More multiprocessors never need less memory.
constexpr int64_t kMostMultiprocessors = 192;

/// Whether the kernels support heads of this number of elements.
constexpr bool isSupportedHead(int64_t head) {
  return head % 8 == 0 && head <= 256;
}

/// The sizes of queries [outer, queries, kvHeads * group, head] in bf16, where `outer` is the
/// batch. Keys and values have kvHeads heads.
struct Sizes {
  int64_t outer, queries, keys, kvHeads, group, head;

  constexpr int64_t heads() const { return kvHeads * group; }
  constexpr int64_t rows() const { return outer * queries * heads(); }
};

constexpr int64_t divideUp(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}
constexpr int64_t roundUp(int64_t a, int64_t b) {
  return divideUp(a, b) * b;
}

/// LibTorch's allocator rounds to 512 bytes.
constexpr int64_t tensorBytes(int64_t elements, int64_t elementBytes) {
  return roundUp(elements * elementBytes, 512);
}

/// Elements of a head in accumulators.
constexpr int64_t roundedHead(int64_t head) {
  return roundUp(head, head <= 128 ? 32 : 64);
}

/// Chunks into which the forward pass divides the keys, at most, if queries alone do not occupy the
/// device. It chooses the least legal number whose last wave of blocks wastes at most 15 % more
/// than that of the best number. With 6 waves the last one wastes at most 1/7, and the next legal
/// number is at most twice as large. So 12 waves are enough.
constexpr int64_t mostSplits(const Sizes &s) {
  const int64_t waves = 2 * kMostMultiprocessors, keyBlock = s.head <= 64    ? 256
                                                             : s.head <= 128 ? 128
                                                                             : 64;
  const int64_t blocks = s.outer * s.heads() * divideUp(s.queries, 64);
  if (blocks == 0 || 10 * blocks >= 8 * waves)
    return 1;
  return std::min({int64_t{128}, divideUp(s.keys, keyBlock), 12 * waves / blocks});
}

/// Result and log-sum-exp, two numbers for dropout, and partial results of divided keys.
constexpr int64_t forwardBytes(const Sizes &s) {
  int64_t bytes =
      tensorBytes(s.rows() * s.head, 2) + tensorBytes(s.rows(), 4) + 2 * tensorBytes(1, 8);
  if (const int64_t splits = mostSplits(s); splits > 1)
    bytes +=
        tensorBytes(splits * s.rows(), 4) + tensorBytes(splits * s.rows() * roundedHead(s.head), 4);
  return bytes;
}

/// Contiguous copies of the result, its cotangent and log-sum-exp; the gradients; the gradients of
/// keys and values per query head, for grouped heads; sums of rows; and one f32 accumulator of the
/// queries' gradient per chunk of keys, for a fixed order of sums.
constexpr int64_t backwardBytes(const Sizes &s) {
  const int64_t keyRows = s.outer * s.keys, pairs = s.outer * s.heads();
  const int64_t rounded = pairs * roundUp(s.queries, 128);
  const int64_t chunks = pairs ? divideUp(kMostMultiprocessors, pairs) : 0;
  int64_t bytes = 3 * tensorBytes(s.rows() * s.head, 2) + tensorBytes(s.rows(), 4) +
                  2 * tensorBytes(keyRows * s.kvHeads * s.head, 2) + tensorBytes(rounded, 4) +
                  tensorBytes(chunks * rounded * roundedHead(s.head), 4);
  if (s.group > 1)
    bytes += 2 * tensorBytes(keyRows * s.heads() * s.head, 2);
  return bytes;
}

} // namespace titan::flash_workspace
