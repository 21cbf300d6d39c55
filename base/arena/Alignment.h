// The alignment of the allocations of an arena.
#pragma once

#include <cstdint>

namespace titan::arena {

/// In bytes: a cache line, and the widest vector registers (AVX-512).
inline constexpr int64_t kArenaAlignment = 64;

} // namespace titan::arena
