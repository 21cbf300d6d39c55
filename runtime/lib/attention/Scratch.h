// Scratch of a kernel: the calling thread's block, divided into buffers that are aligned to 64
// bytes. The compiler plans one block per thread. Also the division of a kernel's work into tasks.
#pragma once

#include "base/kernels/AttentionScratch.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <omp.h>

namespace titan::rt {

/// The block of the calling thread.
class Scratch {
public:
  /// `blocks` holds `bytes` for each thread.
  Scratch(void *blocks, int64_t bytes)
      : next(static_cast<std::byte *>(blocks) + omp_get_thread_num() * bytes) {}

  template <typename T> T *take(int64_t count) {
    T *buffer = reinterpret_cast<T *>(next);
    next += attention_scratch::bufferBytes(count, sizeof(T));
    return buffer;
  }

  /// Takes buffers of these sizes, in order.
  template <typename T, size_t Count>
  void take(const std::array<int64_t, Count> &sizes, T **(&buffers)[Count]) {
    for (size_t i = 0; i < Count; ++i)
      *buffers[i] = take<T>(sizes[i]);
  }

private:
  std::byte *next;
};

/// The outermost index space of an attention kernel: (outer, kv head) pairs. Each pair is divided
/// into several tasks if there are too few pairs for the threads, with at least one of `units` per
/// task.
struct Tasks {
  Tasks(int64_t pairs, int64_t units) : pairs(pairs) {
    constexpr int64_t perThread = 4; // balances unequal tasks
    int64_t wanted = perThread * omp_get_max_threads();
    if (pairs < wanted && omp_get_max_threads() > 1)
      chunks = units < wanted / pairs ? units : wanted / pairs;
  }
  int64_t count() const { return pairs * chunks; }
  int64_t pairs, chunks = 1;
};

} // namespace titan::rt
