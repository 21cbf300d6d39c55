// Alignment of allocations in the arena, and of each allocation's slot in a bucket. The runtime,
// emitted programs and transports rely on it.
#pragma once

#include "base/arena/Alignment.h"

namespace titan::rt::tm {

/// In bytes: a cache line, and the widest vectors.
constexpr int64_t alignment = arena::kArenaAlignment;

/// `count` elements, rounded up to the alignment.
template <typename T> constexpr int64_t aligned(int64_t count) {
  constexpr int64_t elements = alignment / static_cast<int64_t>(sizeof(T));
  return (count + elements - 1) / elements * elements;
}

} // namespace titan::rt::tm
