// Working memory of a kernel: one block per thread that grows to the largest request and stays, so
// that a step after the first allocates nothing. Pieces are cut off it, each aligned to 64 bytes.
// What calls another kernel while it needs its pieces has a block of its own, named by a type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace titan::rt {

class ThreadScratch {
public:
  /// This thread's block with room for `bytes` in pieces; what an earlier call cut off is void.
  template <typename Owner = void> static ThreadScratch &ofThread(size_t bytes) {
    thread_local ThreadScratch scratch;
    scratch.reserve(bytes);
    scratch.used = 0;
    return scratch;
  }

  template <typename T> T *take(int64_t count) {
    T *piece = reinterpret_cast<T *>(block + used);
    used += roundUp(static_cast<size_t>(count) * sizeof(T));
    return piece;
  }

  /// What a piece of so many bytes takes.
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
