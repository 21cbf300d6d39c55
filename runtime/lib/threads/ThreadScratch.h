// Scratch of a kernel: one block per thread that grows to the largest request and persists, so that
// steps after the first allocate nothing. Buffers are aligned to 64 bytes. A kernel that calls
// another while it uses its buffers owns a separate block, selected by a tag type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace titan::rt {

class ThreadScratch {
public:
  /// This thread's block with at least `bytes`; buffers of earlier calls are invalid.
  template <typename Owner = void> static ThreadScratch &ofThread(size_t bytes) {
    thread_local ThreadScratch scratch;
    scratch.reserve(bytes);
    scratch.used = 0;
    return scratch;
  }

  template <typename T> T *take(int64_t count) {
    T *buffer = reinterpret_cast<T *>(block + used);
    used += roundUp(static_cast<size_t>(count) * sizeof(T));
    return buffer;
  }

  /// The size of a buffer in the block.
  static constexpr size_t roundUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

private:
  ThreadScratch() = default;
  ~ThreadScratch() { std::free(block); }
  void reserve(size_t bytes) {
    if (bytes <= capacity)
      return;
    std::free(block);
    capacity = roundUp(bytes);
    block = static_cast<std::byte *>(std::aligned_alloc(64, capacity));
    if (!block)
      throw std::bad_alloc();
  }

  std::byte *block = nullptr;
  size_t capacity = 0;
  size_t used = 0;
};

} // namespace titan::rt
