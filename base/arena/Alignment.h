// Where buffers of an arena begin.
#pragma once

#include <cstdint>

namespace titan::arena {

/// A cache line, and the widest vectors.
inline constexpr int64_t kArenaAlignment = 64;

} // namespace titan::arena
