// Working memory of a kernel: the calling thread's block of what the caller planned, from which
// pieces are cut off, each aligned to 64 bytes.
#pragma once

#include "base/kernels/AttentionScratch.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <omp.h>

namespace titan::rt {

class Scratch {
public:
  /// `blocks` holds `bytes` for each thread.
  Scratch(void *blocks, int64_t bytes)
      : next(static_cast<std::byte *>(blocks) + omp_get_thread_num() * bytes) {}

  template <typename T> T *take(int64_t count) {
    T *piece = reinterpret_cast<T *>(next);
    next += attention_scratch::pieceBytes(count, sizeof(T));
    return piece;
  }

  /// Pieces of these sizes, in order.
  template <typename T, size_t Count>
  void take(const std::array<int64_t, Count> &sizes, T **(&pieces)[Count]) {
    for (size_t i = 0; i < Count; ++i)
      *pieces[i] = take<T>(sizes[i]);
  }

private:
  std::byte *next;
};

/// A kernel's outermost index space: (outer, kv head) pairs, each in `parts` where there are fewer
/// pairs than would keep the threads busy; at most one part for each of `units`.
struct Tasks {
  Tasks(int64_t pairs, int64_t units) : pairs(pairs) {
    constexpr int64_t perThread = 4; // so that unequal parts even out
    int64_t wanted = perThread * omp_get_max_threads();
    if (pairs < wanted && omp_get_max_threads() > 1)
      parts = units < wanted / pairs ? units : wanted / pairs;
  }
  int64_t count() const { return pairs * parts; }
  int64_t pairs, parts = 1;
};

} // namespace titan::rt
