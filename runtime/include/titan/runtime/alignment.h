// Where buffers of the arena begin, and what a block has of each of those that are in a bucket: the
// runtime lays them out by it, emitted programs step through them, and transports send them so.
#pragma once

#include "base/arena/Alignment.h"

namespace titan::rt::tm {

/// In bytes: a cache line, and the widest vectors.
constexpr int64_t alignment = arena::kArenaAlignment;

/// Elements that `count` of them take in a bucket.
template <typename T> constexpr int64_t aligned(int64_t count) {
  constexpr int64_t elements = alignment / static_cast<int64_t>(sizeof(T));
  return (count + elements - 1) / elements * elements;
}

} // namespace titan::rt::tm
